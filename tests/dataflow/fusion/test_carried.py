"""Which indices are one follows from what tensors carry, not from names."""

from fuseloom.dataflow.fusion.carried import carriers
from fuseloom.program import parse


def numbers(text: str) -> dict[str, list[int]]:
    return {name: list(found.values()) for name, found in carriers(parse(text).statements).items()}


def test_a_tensor_carries_indices_from_its_producer_to_its_readers() -> None:
    text = "A: 4x4 dcsr\nT[{0}] = A[{0}]\nU[{1},{2}] = relu(T[{1},{2}])\nV[{1}] = U[{1},{2}]"
    expected = {"T": [0, 1], "U": [0, 1], "V": [0, 1]}
    for names in (("i,j", "i", "j"), ("i,j", "j", "i"), ("p,q", "a", "b")):
        assert numbers(text.format(*names)) == expected


def test_stored_tensors_carry_nothing() -> None:
    assert numbers("A: 4x4 dcsr\nT[i,j] = relu(A[i,j])\nU[i,j] = exp(A[i,j])") == {
        "T": [0, 1],
        "U": [2, 3],
    }


def test_the_first_operand_has_its_way() -> None:
    """U[i] = T[i] + T2[i] brings two numbers for i; B[i,j] = T[i] * T[j] one for two indices."""
    text = """
        A: 4x4 dcsr
        T[i] = A[i,j]
        T2[i] = A[i,j]
        U[i] = T[i] + T2[i]
        B[i,j] = T[i] * T[j]
        """
    found = numbers(text)
    assert found["U"] == [found["T"][0]]
    assert found["B"][0] == found["T"][0]
    assert found["B"][1] not in (found["T"][0], found["T2"][0])


def test_a_concat_carries_nothing_along_its_axis() -> None:
    text = "A: 4x3 dcsr\nT[i,j] = relu(A[i,j])\nC[i,j] = concat[j](T[i,j], T[i,j])"
    found = numbers(text)
    assert found["C"][0] == found["T"][0]
    assert found["C"][1] != found["T"][1]
