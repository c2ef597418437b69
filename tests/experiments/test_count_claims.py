"""The claims counted by kind, and the most important numbers once more, from the paper alone."""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path

import pytest

from fuseloom.experiments.claims import ClaimKind, published
from fuseloom.experiments.count_claims import claims_and_numbers, main

ROOT = Path(__file__).parent.parent.parent
TEXT = files("fuseloom.experiments").joinpath("published.toml").read_text(encoding="utf-8")
TWENTY = (
    ("1.arithmetic", "1", "compute (SM) utilization (avg 16.7%)", 16.7),
    ("4b.rewrite", "8.4", r"handwritten rewrites achieves 1.97 $\times$", 1.97),
    ("4b.beyond", "8.4", r"an additional 1.33 $\times$ speedup over C+S", 1.33),
    ("4b.total", "8.4", r"yielding 2.63 $\times$  total speedup", 2.63),
    ("12.images.imagenet.full_ratio", "8.3", r"SAE achieves $1.94\times$ with full", 1.94),
    ("12.images.imagenet.partial_ratio", "8.3", r"only $\sim 1.01\times$ with partial", 1.01),
    ("13.r2", "8.2", "strong agreement of $R^2=0.991$ in Figure 13", 0.991),
    ("18.spread", "8.8", r"up to $\sim 29\times$ slowdown compared to the best", 29),
    ("16b.h4i4", "8.6", r"factor of 4 results in $\sim 15.9\times$ speedup", 15.9),
    ("table2.cora", "8.1", "Cora [76] 2708x1433 99.7%", 100 - 0.3),
    ("table2.cora_ml", "8.1", "Cora_ML [7] 2995x2879 99.8%", 100 - 0.2),
    ("table2.dblp", "8.1", "DBLP [7] 17716x1639 99.6%", 100 - 0.4),
    ("table2.mask64", "8.1", "53.9%-86.5%", 100 - 46.1),
    ("table2.mask16", "8.1", "53.9%-86.5%", 100 - 13.5),
    ("table3.gpt3.flops", "8.3", "GPT-3 (block=16) 1.8 5.7", 1.8),
    ("table3.gcn.bytes", "8.3", "GCN 2.8 9.6", 9.6),
    ("table3.graphsage.bytes", "8.3", "GraphSAGE 2.6 11.5", 11.5),
    ("table4.graphsage.free", "8.8", r"GraphSAGE $3.9 \cdot 10^7$", 3.9e7),
    ("table4.graphsage.constrained", "8.8", r"$1.1 \cdot 10^3$", 1.1e3),
    ("table4.gcn.constrained", "8.8", r"$2.0 \cdot 10^8^*$ $6.3 \cdot 10^7$", 6.3e7),
)
"""Claim, section, words of the paper, and the number that they hold, read from its text alone."""


def test_the_claims_of_each_kind() -> None:
    """The counts of the file; who changes a kind changes them, and says why."""
    assert claims_and_numbers(published().values()) == {
        ClaimKind.PREDICTED: (36, 27),
        ClaimKind.CALIBRATED: (108, 63),
        ClaimKind.PROPERTY: (27, 27),
        ClaimKind.OURS: (39, 39),
    }


def test_a_number_that_is_shared_counts_once() -> None:
    """The fully fused cycles of Cora stand in four claims."""
    sharing = [one.id for one in published().values() if one.expected == 166_361_105]
    assert len(sharing) == 4
    assert len({published()[id_].number_id for id_ in sharing}) == 1


def test_the_counts_are_printed(capsys) -> None:
    assert main() == 0
    shown = capsys.readouterr().out
    assert "predicted: " in shown
    assert "17.proportional (2 to 4): the size of a block may be" in shown


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ("within = 0.01", "within = 0.06", "beyond the ±1 % of its family, without a reason"),
        ("to = 0.5\n", "to = 2\n", "half of the last printed digit, without a reason"),
        ('kind = "predicted"', 'kind = "published"', "of no kind: 'published'"),
        ('fitted = "', 'basis = "', "must say what was fitted"),
        ('section = "8.3"', 'section = ""', "names no section of the paper"),
        ('prints = "1.8 %"', 'prints = ""', "table3.gpt3.flops is a property without a statement"),
        ('constant = "16b.i2"', 'constant = "18.spread"', "a published number of another kind"),
    ],
)
def test_a_claim_that_is_changed_for_the_worse(before, after, told, capsys) -> None:
    assert before in TEXT
    assert main(TEXT.replace(before, after, 1)) == 1
    assert told in capsys.readouterr().err


def test_a_reason_permits_a_wider_tolerance(capsys) -> None:
    wide = "within = 0.06\nreason = 'an argument'"
    assert main(TEXT.replace("within = 0.01", wide, 1)) == 0
    assert "(±6 %): an argument" in capsys.readouterr().out


def paper() -> str:
    """The paper's text, its white space made even, where it lies beside the checkout."""
    folder = ROOT.parent / "shared" / "papers"
    texts = (path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.txt")))
    return " ".join(next((t for t in texts if "# FuseFlow:" in t[:200]), "").split())


def squeezed(text: str) -> str:
    """Text without white space: how a formula is spaced means nothing."""
    return re.sub(r"\s", "", text)


def test_twenty_numbers() -> None:
    """Each is in the claim as it is in the words, and the words are the paper's."""
    assert len(TWENTY) == 20
    whole = squeezed(paper())
    for id_, section, words, value in TWENTY:
        claim = published()[id_]
        assert claim.section == section, id_
        assert not whole or squeezed(words) in whole, words
        known = {claim.least, claim.most, claim.expected}
        if id_.startswith("table2."):
            known = {100 - claim.expected}
        if id_ == "16b.h4i4":
            known = {float(claim.prints.strip("~×"))}
        assert any(x is not None and x == pytest.approx(value, rel=1e-9) for x in known), id_
        digits = re.sub(r"[^0-9.].*", "", f"{value:.4g}")
        if value < 1e3:
            assert digits in words, id_
            assert digits in claim.prints, id_
