"""Makes up the statements of a random program, one after another."""

from __future__ import annotations

import random
from dataclasses import dataclass
from itertools import permutations
from math import prod

import numpy as np

INDICES = ("i", "j", "k", "l", "m")


@dataclass
class Made:
    """A tensor while a program is being made up: its index sizes and what may be done to it.

    ``count`` is how many elements it has at most, where somebody counts.
    """

    name: str
    sizes: tuple[int, ...]
    positive: bool
    magnitude: float
    count: int = 0


class Maker:
    """Makes up statements one after another.

    Parameters
    ----------
    block : int
        Edge of the blocks that some indices are stored in.
    undefined : bool
        Take logarithms and roots of negative numbers, and divide by 0: NaN and infinities.
    """

    def __init__(self, rng: random.Random, block: int = 1, undefined: bool = False) -> None:
        self.rng = rng
        self.block = block
        self.undefined = undefined
        count = rng.randint(1, 3)
        self.size_of = {x: rng.choice([1, 2, 3, 4, 5][: count + 2]) for x in INDICES}
        if block > 1:  # blocked indices and others never share a size, so none is linked
            others = [size for size in (1, 2, 3, 5) if size % block]
            for x in INDICES:
                blocks = block * rng.randint(1, 3)
                self.size_of[x] = blocks if rng.random() < 0.7 else rng.choice(others)
        self.joinable = rng.random() < 0.3
        if self.joinable:  # m can hold what k and l hold, one after the other
            self.size_of["m"] = self.size_of["k"] + self.size_of["l"]
            blocked = {self.is_blocked(x) for x in "klm"}
            self.joinable = len(blocked) == 1  # else the sum is of another kind than its terms
        self.tensors: list[Made] = []
        self.declarations: list[str] = []
        self.statements: list[str] = []
        self.dense = rng.random() < 0.25

    def text(self, statements: int) -> str:
        while len(self.statements) < statements:
            kind = self.rng.choice(
                [
                    *("mul", "mul", "mul", "add", "broadcast", "unary", "reduce", "div", "softmax"),
                    *("product", "reshape", "again", "extreme", "place"),
                    *(["concat"] * 3 if self.joinable else []),
                ]
            )
            getattr(self, kind)()
        option = ["option broadcast_add dense"] if self.dense else []
        return "\n".join([*option, *self.declarations, *self.statements])

    # Operands ---------------------------------------------------------------------------------

    def indices(self, low: int, high: int) -> list[str]:
        return self.at_most_two_blocked(self.rng.sample(INDICES, self.rng.randint(low, high)))

    def at_most_two_blocked(self, indices: list[str]) -> list[str]:
        blocked = [x for x in indices if self.is_blocked(x)]
        return [x for x in indices if x not in blocked[2:]]

    def blocks(self, indices: list[str]) -> str:
        """Return the block clause of a declaration over these indices."""
        blocked = ",".join(str(k) for k, x in enumerate(indices) if self.is_blocked(x))
        return f" block {self.block} over {blocked}" if blocked else ""

    def is_blocked(self, index: str) -> bool:
        return self.block > 1 and self.size_of[index] % self.block == 0

    def input(self, indices: list[str], positive: bool = False) -> Made:
        rng = self.rng
        name = f"A{len(self.declarations)}"
        sizes = tuple(self.size_of[x] for x in indices)
        levels = [rng.choice(["dense", "compressed"]) for _ in sizes]
        if rng.random() < 0.15:
            levels = ["dense"] * len(sizes)
        elif rng.random() < 0.25:  # COO, or singletons at some of the inner levels
            everywhere = rng.random() < 0.5
            if everywhere and levels:
                levels[0] = "compressed"
            for at in range(1, len(levels)):
                if everywhere or rng.random() < 0.5:
                    levels[at] = "singleton"
        order = list(range(len(sizes)))
        if rng.random() < 0.3:
            rng.shuffle(order)
        levels = self.storable(levels, [sizes[k] for k in order])
        shape = "x".join(map(str, sizes)) or "scalar"
        form = f" [{', '.join(levels)}] order {','.join(map(str, order))}" if sizes else ""
        form += self.blocks(indices)
        self.declarations.append(f"{name}: {shape}{form}")
        made = Made(name, sizes, positive or rng.random() < 0.5, 2.0, self.stored(sizes, levels))
        self.tensors.append(made)
        if self.undefined and not made.positive and rng.random() < 0.5:
            function = rng.choice(("log", "log", "rsqrt"))
            return self.emit(indices, f"{function}({self.at(made, indices)})", False, 4.0, made)
        return made

    def storable(self, levels: list[str], sizes: list[int]) -> list[str]:
        """Levels in storage order as they may be, given their sizes."""
        return levels

    def stored(self, sizes: tuple[int, ...], levels: list[str]) -> int:
        """Return the most elements of an input."""
        return 0

    def computed(self, sizes: tuple[int, ...], operands: tuple[Made, ...]) -> int:
        """Return the most elements of a result."""
        return 0

    def fillable(self, indices: list[str]) -> bool:
        """Return whether a made tensor may hold an element for each point of these indices."""
        return True

    def summed(self, gone: list[str], *operands: Made) -> float:
        """Return the most elements that are summed to one."""
        return float(prod(self.size_of[x] for x in gone))

    def operand(self, indices: list[str], positive: bool = False) -> Made:
        """A tensor that can be read at these indices: an earlier result, or a new input."""
        sizes = tuple(self.size_of[x] for x in indices)
        known = [t for t in self.tensors if t.sizes == sizes and (t.positive or not positive)]
        if known and self.rng.random() < 0.75:
            return known[-1] if self.rng.random() < 0.6 else self.rng.choice(known)
        return self.input(indices, positive)

    def recent(self) -> tuple[Made, list[str]]:
        """A recent tensor and indices to read it at."""
        if not self.tensors:
            indices = self.indices(1, 3)
            return self.input(indices), indices
        made = self.tensors[-1]
        for _ in range(8):
            chosen: list[str] = []
            for size in made.sizes:
                fitting = [x for x in INDICES if self.size_of[x] == size and x not in chosen]
                if not fitting:
                    break
                chosen.append(self.rng.choice(fitting))
            else:
                return made, chosen
        indices = self.indices(1, 3)
        return self.input(indices), indices

    def emit(
        self, out: list[str], right: str, positive: bool, magnitude: float, *operands: Made
    ) -> Made:
        name = f"T{len(self.statements)}"
        self.statements.append(f"{name}[{','.join(out)}] = {right}")
        sizes = tuple(self.size_of[x] for x in out)
        made = Made(name, sizes, positive, magnitude, self.computed(sizes, operands))
        self.tensors.append(made)
        return made

    @staticmethod
    def at(made: Made, indices: list[str]) -> str:
        return f"{made.name}[{','.join(indices)}]"

    # Statements -------------------------------------------------------------------------------

    def mul(self) -> None:
        a, ai = self.recent()
        bi = self.indices(0, 3)
        if self.rng.random() < 0.7 and not set(ai) & set(bi) and bi:
            bi[0] = self.rng.choice(ai) if ai else bi[0]
            bi = list(dict.fromkeys(bi))
        b = self.operand(bi)
        both = list(dict.fromkeys(ai + bi))
        if a.magnitude * b.magnitude > 1e3:
            return
        out = self.at_most_two_blocked([x for x in both if self.rng.random() < 0.7])[:3]
        if self.rng.random() < 0.3:
            self.rng.shuffle(out)
        summed = self.summed([x for x in both if x not in out], a, b)
        self.emit(
            out,
            f"{self.at(a, ai)} * {self.at(b, bi)}",
            a.positive and b.positive,
            a.magnitude * b.magnitude * summed,
            *(a, b),
        )

    def again(self) -> None:
        """Something made of a tensor, and that tensor once more."""
        a, ai = self.recent()
        if not ai or a.magnitude > 60:
            return
        b = self.operand([self.rng.choice(ai)])
        at, n = self.at(a, ai), len(self.statements)
        bi = [x for x in ai if b.sizes == (self.size_of[x],)][:1]
        size = a.magnitude * b.magnitude
        self.emit(ai, f"{at} * {self.at(b, bi)}", a.positive and b.positive, size, a, b)
        sign = self.rng.choice("+*-")
        right = f"T{n}[{','.join(ai)}] {sign} {at}"
        most = size * a.magnitude if sign == "*" else size + a.magnitude
        self.emit(ai, right, a.positive and b.positive and sign != "-", most, self.tensors[-1], a)

    def product(self) -> None:
        """Three factors in one iteration space."""
        a, ai = self.recent()
        bi, ci = self.indices(0, 2), self.indices(0, 2)
        if ai and bi:
            bi = list(dict.fromkeys([self.rng.choice(ai), *bi]))
        b, c = self.operand(bi), self.operand(ci)
        every = list(dict.fromkeys(ai + bi + ci))
        magnitude = a.magnitude * b.magnitude * c.magnitude
        if magnitude > 1e3 or len(every) > 4:
            return
        out = self.at_most_two_blocked([x for x in every if self.rng.random() < 0.6])[:3]
        summed = self.summed([x for x in every if x not in out], a, b, c)
        self.emit(
            out,
            f"product({self.at(a, ai)}, {self.at(b, bi)}, {self.at(c, ci)})",
            a.positive and b.positive and c.positive,
            magnitude * summed,
            *(a, b, c),
        )

    def concat(self) -> None:
        """Something over k and something over l, one behind the other over m."""
        rest = self.rng.sample(("i", "j"), self.rng.randint(0, 2))
        rest = self.at_most_two_blocked(["m", *rest])[1:]
        at = self.rng.randint(0, len(rest))

        def over(axis: str) -> list[str]:
            return [*rest[:at], axis, *rest[at:]]

        a, b = self.operand(over("k")), self.operand(over("l"))
        out = over("m")
        if self.rng.random() < 0.2:
            self.rng.shuffle(out)
        self.emit(
            out,
            f"concat[m]({self.at(a, over('m'))}, {self.at(b, over('m'))})",
            a.positive and b.positive,
            max(a.magnitude, b.magnitude),
            *(a, b),
        )

    def reshape(self) -> None:
        """Split a dimension, or merge two."""
        a, ai = self.recent()
        if not ai or self.rng.random() < 0.5:
            return
        sizes = [self.size_of[x] for x in ai]
        places = prod(sizes)
        fitting = [
            list(chosen)
            for rank in (1, 2, 3)
            for chosen in permutations(INDICES, rank)
            if prod(self.size_of[x] for x in chosen) == places
            and self.at_most_two_blocked(list(chosen)) == list(chosen)
        ]
        if not fitting:
            return
        out = self.rng.choice(fitting)
        name = f"T{len(self.statements)}"
        shape = "x".join(str(self.size_of[x]) for x in out)
        levels = [self.rng.choice(["dense", "compressed"]) for _ in out]
        if a.positive:  # places that a dense level fills would hold zeros
            levels = ["compressed"] * len(out)
        order = list(range(len(out)))
        self.rng.shuffle(order)
        levels = self.storable(levels, [self.size_of[out[k]] for k in order])
        self.declarations.append(
            f"{name}: {shape} [{', '.join(levels)}] order {','.join(map(str, order))}"
            + self.blocks(out)
        )
        positive = a.positive and not self.blocks(out)  # so would the rest of a block
        self.emit(out, f"reshape({self.at(a, ai)})", positive, a.magnitude, a)

    def add(self) -> None:
        a, ai = self.recent()
        b = self.operand(ai)
        sign = self.rng.choice("+-")
        out = list(ai)
        if self.rng.random() < 0.2:
            self.rng.shuffle(out)
        positive = a.positive and b.positive and sign == "+"
        right = f"{self.at(a, ai)} {sign} {self.at(b, ai)}"
        self.emit(out, right, positive, a.magnitude + b.magnitude, a, b)

    def extreme(self) -> None:
        """The larger or smaller of two tensors, one of which may lack indices, or of a number."""
        a, ai = self.recent()
        word = self.rng.choice(("max", "min"))
        if self.rng.random() < 0.3:
            bound = self.rng.choice((-0.7, 0, 0.3))
            self.emit(ai, f"{word}({self.at(a, ai)}, {bound})", False, max(a.magnitude, 0.7), a)
            return
        bi = ai if self.rng.random() < 0.7 else [x for x in ai if self.rng.random() < 0.5]
        b = self.operand(list(bi))
        parts = [self.at(a, ai), self.at(b, list(bi))]
        self.rng.shuffle(parts)
        positive, most = a.positive and b.positive, max(a.magnitude, b.magnitude)
        self.emit(list(ai), f"{word}({', '.join(parts)})", positive, most, a, b)

    def place(self) -> None:
        """A tensor read at a diagonal, at sums of indices, or at the entries of a list."""
        a, ai = self.recent()
        if not ai or a.magnitude > 1e3:
            return
        at, used = list(ai), {x for x in ai if self.rng.random() < 0.5}
        for k, x in enumerate(ai):
            if x in used and k:
                continue
            size = self.size_of[x]
            terms = self.rng.sample(INDICES, self.rng.randint(1, 2))
            if not self.fillable(terms):
                continue
            if self.rng.random() < 0.3:
                listed = [str(self.rng.randrange(size)) for _ in range(self.size_of[terms[0]])]
                at[k] = f"({', '.join(listed)})[{terms[0]}]"
                terms = terms[:1]
            else:
                signs = [self.rng.choice(("+", "+", "-", "+2*")) for _ in terms]
                shift = self.rng.randint(-1, size - 1)
                whole = "".join(s + y for s, y in zip(signs, terms, strict=True)) + f"{shift:+d}"
                at[k] = whole.removeprefix("+")
            used = {*used, *terms}
            break
        every = [x for x in INDICES if any(x in part for part in at)]
        if len(every) > 3:
            return
        ones = self.input(every, positive=True)
        out = self.at_most_two_blocked([x for x in every if self.rng.random() < 0.7])
        magnitude = 2 * a.magnitude * self.summed([x for x in every if x not in out], a)
        right = f"{a.name}[{','.join(at)}] * {self.at(ones, every)}"
        positive = a.positive and self.block == 1  # blocks hold zeros where no place is
        self.emit(out, right, positive, magnitude, a, ones)

    def broadcast(self) -> None:
        a, ai = self.recent()
        bi = [x for x in ai if self.rng.random() < 0.5]
        b = self.operand(bi)
        left, right = self.at(a, ai), self.at(b, bi)
        if self.rng.random() < 0.3:
            left, right = right, left
        magnitude = a.magnitude + b.magnitude
        self.emit(list(ai), f"{left} + {right}", a.positive and b.positive, magnitude, a, b)

    def unary(self) -> None:
        a, ai = self.recent()
        at = self.at(a, ai)
        choices = ["relu", "scale", "shift", "abs", "tanh", "sin", "cos"]
        choices.append(self.rng.choice(("floor", "ceil", "trunc", "round")))
        if not self.undefined:  # these make numbers of infinities
            choices += ["erf", "sign"]
        if a.magnitude <= 2:  # what gelu(x) - x keeps of a larger x is lost in float32
            choices.append("gelu")
        if a.magnitude <= 60:  # float32 knows nothing of e**-100
            choices.append("sigmoid")
        if a.magnitude <= 4:
            choices += ["exp", "exp"]
        if a.positive or self.undefined:
            choices += ["log", "rsqrt", "sqrt"] * (3 if self.undefined else 1)
        match self.rng.choice(choices):
            case "scale":
                self.emit(ai, f"{at} * 0.5", a.positive, a.magnitude, a)
            case "shift":
                self.emit(ai, f"{at} + 0.25", a.positive, a.magnitude + 1, a)
            case "exp":
                self.emit(ai, f"exp({at})", True, float(np.exp(a.magnitude)), a)
            case "relu":
                self.emit(ai, f"relu({at})", False, a.magnitude, a)
            case "abs" | "sqrt" as kept:
                self.emit(ai, f"{kept}({at})", a.positive, max(a.magnitude, 1), a)
            case "sigmoid" | "tanh" | "sin" | "cos" | "erf" | "sign" as flat:
                # Not positive: float32 keeps no digit of the logarithm of nearly 1.
                self.emit(ai, f"{flat}({at})", False, 1, a)
            case other:
                self.emit(ai, f"{other}({at})", False, a.magnitude + 4, a)

    def reduce(self) -> None:
        a, ai = self.recent()
        if not ai:
            return
        out = [x for x in ai if self.rng.random() < 0.6]
        gone = [x for x in ai if x not in out]
        if self.rng.random() < 0.5 and gone:
            word = self.rng.choice(("max", "max", "min"))
            right = f"{word}[{','.join(gone)}] {self.at(a, ai)}"
        else:
            right = self.at(a, ai)
        self.emit(out, right, a.positive, a.magnitude * self.summed(gone, a), a)

    def div(self) -> None:
        a, ai = self.recent()
        bi = [x for x in ai if self.rng.random() < 0.7]
        defined = not self.undefined or self.rng.random() < 0.5
        b = self.operand(bi, positive=defined)
        if defined and (not b.positive or b.name.startswith("T")):
            b = self.input(bi, positive=True)
        right = f"{self.at(a, ai)} / {self.at(b, bi)}"
        self.emit(list(ai), right, a.positive and defined, a.magnitude * 4, a, b)

    def softmax(self) -> None:
        a, ai = self.recent()
        if len(ai) < 2 or a.magnitude > 60:
            return
        at, rest, last = self.at(a, ai), ai[:-1], ai[-1]
        n = len(self.statements)
        self.emit(rest, f"max[{last}] {at}", a.positive, a.magnitude, a)
        self.emit(ai, f"{at} - T{n}[{','.join(rest)}]", False, 2 * a.magnitude, a)
        self.emit(ai, f"exp(T{n + 1}[{','.join(ai)}])", False, 1, a)
        self.emit(rest, f"T{n + 2}[{','.join(ai)}]", False, 9, a)
        self.emit(ai, f"T{n + 2}[{','.join(ai)}] / T{n + 3}[{','.join(rest)}]", False, 1, a)
