"""Kernels counted in what XLA prints of a module that it compiled."""

from __future__ import annotations

from fuseloom.stitch.compiled_counts import CompiledCounts, compiled_counts
from fuseloom.stitch.hlo import read_hlo

COMPILED = """HloModule jit_f, is_scheduled=true

FileNames
1 "f.py"

%region_0.1 (a: f32[], b: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %c = f32[] add(%a, %b), metadata={op_name="jit(f)/reduce_sum" stack_frame_id=3}
}

%fused_computation (p0: f32[8,4], p1: f32[8]) -> f32[8,4] {
  %p0 = f32[8,4]{1,0} parameter(0)
  %p1 = f32[8]{0} parameter(1)
  %wide = f32[8,4]{1,0} broadcast(%p1), dimensions={0}
  ROOT %difference = f32[8,4]{1,0} subtract(%p0, %wide)
}

%fused_product (p0.1: f32[8,4], p1.1: f32[4,4]) -> f32[8,4] {
  %p0.1 = f32[8,4]{1,0} parameter(0)
  %p1.1 = f32[4,4]{1,0} parameter(1)
  ROOT %inner = f32[8,4]{1,0} dot(%p0.1, %p1.1), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}

%step (state: (f32[8,4], s32[])) -> (f32[8,4], s32[]) {
  %state = (f32[8,4]{1,0}, s32[]) parameter(0)
  %x.1 = f32[8,4]{1,0} get-tuple-element(%state), index=0
  %i = s32[] get-tuple-element(%state), index=1
  %one = s32[] constant(1)
  %next = s32[] add(%i, %one)
  %copied = f32[8,4]{1,0} copy(%x.1)
  ROOT %both = (f32[8,4]{1,0}, s32[]) tuple(%copied, %next)
}

%goes_on (state.1: (f32[8,4], s32[])) -> pred[] {
  %state.1 = (f32[8,4]{1,0}, s32[]) parameter(0)
  %i.1 = s32[] get-tuple-element(%state.1), index=1
  %most = s32[] constant(3)
  ROOT %less = pred[] compare(%i.1, %most), direction=LT
}

ENTRY %main (x: f32[8,4], w: f32[4,4]) -> f32[8,4] {
  %x = f32[8,4]{1,0} parameter(0)
  %w = f32[4,4]{1,0} parameter(1)
  %zero = f32[] constant(0)
  %start = s32[] constant(0)
  %sums = f32[8]{0} reduce(%x, %zero), dimensions={1}, to_apply=%region_0.1
  %centred = f32[8,4]{1,0} fusion(%x, %sums), kind=kLoop, calls=%fused_computation
  %bits = f32[32]{0} bitcast(%centred)
  %again = f32[8,4]{1,0} bitcast(%bits)
  %library = f32[8,4]{1,0} fusion(%again, %w), kind=kCustom, calls=%fused_product
  %called = f32[8,4]{1,0} dot(%library, %w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  %first = (f32[8,4]{1,0}, s32[]) tuple(%called, %start)
  %loop = (f32[8,4]{1,0}, s32[]) while(%first), condition=%goes_on, body=%step
  ROOT %made = f32[8,4]{1,0} get-tuple-element(%loop), index=0
}
"""


def test_fusions_single_operations_and_calls() -> None:
    found = compiled_counts(read_hlo(COMPILED))
    # The sum; of the loop's body an addition and a copy, of its condition a comparison.
    assert found == CompiledCounts(fusions=1, library_fusions=1, single=4, calls=1)
    assert found.kernels == 6
    assert CompiledCounts().kernels == 0
