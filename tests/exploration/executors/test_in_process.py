"""Jobs in this process."""

from __future__ import annotations

from fuseloom.exploration.executors import InProcess, Job, JobLimits, JobResult, JobStatus
from tests.exploration.executors.targets import FATES

HERE = "tests.exploration.executors.targets"


def job(key: str, target: str, request: object = None, wall: float | None = None) -> Job:
    return Job(key, f"{HERE}:{target}", request, JobLimits(wall=wall))


def answers(executor: InProcess) -> dict[str, JobResult]:
    found = {}
    while (answer := executor.next()) is not None:
        found[answer.key] = answer
    return found


def test_jobs_are_answered_in_order() -> None:
    with InProcess() as executor:
        for number in range(5):
            executor.submit(job(str(number), "double", number))
        assert list(answers(executor)) == ["0", "1", "2", "3", "4"]
        executor.submit(job("a", "double", 1))
    assert executor.next() is None


def test_errors_have_the_same_fates_as_in_workers() -> None:
    executor = InProcess()
    gentle = ("raise", "refuse", "deadlock", "tokens", "memory", "deep")
    for poison in gentle:
        executor.submit(job(poison, "run", {"number": 1, "poison": poison}))
    found = answers(executor)
    assert {p: found[p].fate.value for p in gentle} == {p: FATES[p] for p in gentle}
    executor.submit(job("x", "nothing"))
    assert answers(executor)["x"].fate is JobStatus.REFUSED


def test_jobs_that_report_can_be_ended() -> None:
    def progress(key: str, share: float, text: str) -> None:
        if key == "b":
            executor.cancel("b")

    executor = InProcess(progress)
    executor.submit(job("a", "slow", 60, 0.1))
    executor.submit(job("b", "slow", 60))
    executor.submit(job("c", "slow", 60))
    executor.submit(job("d", "slow", 0.01))
    executor.cancel("c")
    found = answers(executor)
    assert [a.fate for a in found.values()] == [
        JobStatus.LIMIT, JobStatus.CANCELLED, JobStatus.CANCELLED, JobStatus.DONE
    ]  # fmt: skip
    assert found["a"].reason == "more than 0.1 s of time"
