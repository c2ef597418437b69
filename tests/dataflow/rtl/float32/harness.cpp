// Runs every unit on each pair of operands of a file, one pair a cycle.
//
// harness INPUT OUTPUT: INPUT has pairs of 32-bit words a, b; OUTPUT has, for each unit, its result
// in every cycle, before the clock edge that ends the cycle.
#include <cstdint>
#include <cstdio>
#include <vector>

#include "Vevery_unit.h"
#include "verilated.h"

int main(int argc, char** argv) {
    if (argc != 3) return 2;
    FILE* input = std::fopen(argv[1], "rb");
    if (!input) return 3;
    std::fseek(input, 0, SEEK_END);
    const size_t cycles = std::ftell(input) / 8;
    std::rewind(input);
    std::vector<uint32_t> operands(2 * cycles);
    if (std::fread(operands.data(), 8, cycles, input) != cycles) return 4;
    std::fclose(input);

    Vevery_unit top;
    const size_t units = sizeof(top.z) / sizeof(uint32_t);
    std::vector<uint32_t> results(units * cycles);
    for (size_t cycle = 0; cycle < cycles; ++cycle) {
        top.clk = 0;
        top.a = operands[2 * cycle];
        top.b = operands[2 * cycle + 1];
        top.eval();
        for (size_t unit = 0; unit < units; ++unit) results[unit * cycles + cycle] = top.z[unit];
        top.clk = 1;
        top.eval();
    }
    FILE* output = std::fopen(argv[2], "wb");
    if (!output) return 5;
    if (std::fwrite(results.data(), 4, results.size(), output) != results.size()) return 6;
    return std::fclose(output);
}
