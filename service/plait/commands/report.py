"""The report of a start: the provider accepted the turn, or a native way failed and the start is planned anew."""

from collections.abc import Mapping

from pydantic import JsonValue

from plait.commands.contracts import PlannedStart, ReportRunStarted, StartFailure, StartResult
from plait.commands.ending import end_run
from plait.commands.execution import Toolbox, Unit, execute, new_id
from plait.commands.handoffs import stored_handoffs
from plait.commands.locking import CHANGED_NOTHING, LockedRun, lock_run, require_reportable
from plait.commands.resolution import consume, fail_transfers, resolve, set_transfers, states_of
from plait.commands.results import take_results
from plait.commands.start import (
    StartCodec,
    creator_of,
    generation_of,
    known_provider,
    load,
    planned_properties,
)
from plait.domain.errors import ErrorCode, InvalidInput, Refused
from plait.domain.ids import IdKind
from plait.domain.model import (
    ProviderThread,
    ProviderThreadStatus,
    Run,
    RunStatus,
    Strategy,
    Transfer,
    TransferStatus,
    TransferType,
)
from plait.domain.planner import plan_start
from plait.domain.planning import ForkSupport, Outcome, StartPlan
from plait.domain.transfers import consumption, resolution
from plait.graph.chains import joint_of
from plait.graph.properties import properties
from plait.graph.statements import service_statement

_ACCEPT = service_statement("accept_run")
_TRANSFERS = service_statement("transfers_by_id")
_DIVERGE = service_statement("diverge_provider_thread")
_KEEP_FORK = service_statement("keep_fork")
_LATER = service_statement("later_turns")
_LOSE = service_statement("lose_provider_thread")
_LOCK_PROVIDER_THREAD = service_statement("lock_provider_thread")
_SET_RUN = service_statement("set_run")
_DIVERGED = (
    "The report was kept for audit. The native thread it names holds that turn now and is not resumed any more. "
    "Start a new run to go on."
)


async def report_run_started(box: Toolbox, key: str | None, given: ReportRunStarted) -> StartResult:
    """Puts a run into history when its provider accepted the turn, or plans it anew when a native way failed.

    A native fork that was made before the turn failed is reported with the failure: the next start uses it. Raises
    `NotFound`, `InvalidInput` (the native thread is not the one the plan named), and `Refused` with
    `RUN_NOT_ACTIVE`, `RUN_ALREADY_STARTED` or `ID_TAKEN` (the native thread stands behind another thread).
    """

    async def work(unit: Unit) -> StartResult:
        if given.failure is not None and given.native_turn_id:
            raise InvalidInput("Report either a start with its native ids, or a failure: it has no nativeTurnId.")
        locked = await lock_run(unit, given.run_id)
        diverged = not locked.run.status.active and await _own_up(unit, locked.run, given)
        require_reportable(unit, locked, given, _DIVERGED if diverged else CHANGED_NOTHING)
        if locked.run.status is not RunStatus.STARTING:
            raise Refused(
                ErrorCode.RUN_ALREADY_STARTED,
                f"Run {given.run_id} was reported started before. Go on with its items; to repeat that report, send "
                "the clientMutationId it had.",
            )
        plan = StartPlan.model_validate_json(locked.run.plan or "")
        if given.failure is None:
            return await _accept(box, unit, locked, plan, given)
        if given.native_thread_id is not None:
            return await _keep_fork(box, unit, locked, plan, given, given.failure)
        if plan.resume is None and plan.native_fork is None:
            return await _end(unit, locked, given.failure, None)
        return await _replan(box, unit, locked, plan, given.failure)

    return await execute(box, "reportRunStarted", key, given, StartCodec(StartResult), work)


async def _own_up(unit: Unit, run: Run, given: ReportRunStarted) -> bool:
    """A provider took the turn of a run that had been given up: its native thread now holds what no history has.

    The provider thread is divergent from then on: it can be forked at an earlier turn, never resumed. Whether it is so.
    """
    plan = StartPlan.model_validate_json(run.plan or "{}")
    if given.failure is not None or run.started_at is not None or plan.resume is None:
        return False
    await unit.tx.demand(_DIVERGE, providerThreadId=plan.resume.provider_thread_id, runId=run.id)
    return True


async def _accept(box: Toolbox, unit: Unit, locked: LockedRun, plan: StartPlan, given: ReportRunStarted) -> StartResult:
    thread, run = locked.thread, locked.run
    await _require_resume_holds(unit, run, plan)
    await _require_fork_holds(box, unit, run, plan)
    provider_thread = _provider_thread(unit, run, plan, given)
    joint = joint_of(plan.parcels)
    row = await unit.tx.demand(
        _ACCEPT,
        threadId=thread.id,
        runId=run.id,
        previousRunId=thread.head_run_id,
        providerThread=provider_thread,
        nativeTurnId=given.native_turn_id,
        leaseMilliseconds=box.lease_milliseconds,
        forkedFromId=plan.native_fork.provider_thread_id if plan.native_fork else None,
        forkedThroughRunId=plan.native_fork.run_id if plan.native_fork else None,
        handoffIds=list(run.handoff_ids),
        adds=joint.adds,
        leaves=joint.leaves,
        now=unit.now,
    )
    accepted = Run.model_validate(row["run"])
    # What a native fork carries resolves now that it exists.
    native = {"nativeThreadId": given.native_thread_id}
    passages = {
        transfer.id: consumption(transfer, run, Strategy.NATIVE_FORK, unit.now, **native)
        for transfer in await _transfers(unit, run)
    }
    transfers = await consume(unit, run, passages)
    results = [transfer for transfer in transfers if transfer.type is TransferType.SUBAGENT_RESULT]
    if results:
        accepted = await take_results(box, unit, accepted, results)
    unit.record(
        "run.started",
        thread,
        run_id=run.id,
        transfer_id=next(iter(run.transfer_ids), None),
        data={"transfers": states_of(passages)},
    )
    handoffs = await stored_handoffs(unit.tx, run.handoff_ids)
    return StartResult(run=accepted, start=PlannedStart(plan=plan, transfers=tuple(transfers), handoffs=handoffs))


async def _require_resume_holds(unit: Unit, run: Run, plan: StartPlan) -> None:
    """A native thread may have turned out, since the plan, to hold a turn of a run that had been given up.

    Raises `Refused` with `PLAN_OUTDATED`.
    """
    if plan.resume is None:
        return
    row = await unit.tx.demand(
        _LOCK_PROVIDER_THREAD, providerThreadId=plan.resume.provider_thread_id, threadId=run.thread_id
    )
    if ProviderThread.model_validate(row["providerThread"]).status is not ProviderThreadStatus.ACTIVE:
        raise Refused(
            ErrorCode.PLAN_OUTDATED,
            "The native thread that the plan resumes was found to hold a turn that is not in the history. "
            "Report a failure: the run is planned anew.",
        )


async def _require_fork_holds(box: Toolbox, unit: Unit, run: Run, plan: StartPlan) -> None:
    """A provider that forks its latest state may have forked more than was planned, where its thread has gone on.

    Raises `Refused` with `PLAN_OUTDATED`.
    """
    if plan.native_fork is None or known_provider(box.providers, run.provider).fork is not ForkSupport.LATEST:
        return
    row = await unit.tx.demand(_LATER, runId=plan.native_fork.run_id, acceptedRunId=run.id)
    if row["later"] > 0:
        raise Refused(
            ErrorCode.PLAN_OUTDATED,
            "The source went on before it was forked, so the fork holds more than its history. "
            "Report a failure: the run is planned anew.",
        )


async def _transfers(unit: Unit, run: Run) -> list[Transfer]:
    """The transfers that accepting the run consumes, in their order."""
    if not run.transfer_ids:
        return []
    row = await unit.tx.demand(_TRANSFERS, ids=list(run.transfer_ids))
    found = {record["id"]: Transfer.model_validate(record) for record in row["records"]}
    return [found[key] for key in run.transfer_ids]


def _provider_thread(unit: Unit, run: Run, plan: StartPlan, given: ReportRunStarted) -> Mapping[str, object]:
    """The provider thread that took the turn: the one resumed, or a new one. Raises `InvalidInput`."""
    native = given.native_thread_id
    if plan.resume is not None:
        if native is not None and native != plan.resume.native_thread_id:
            raise InvalidInput(
                f"The plan resumes native thread {plan.resume.native_thread_id!a}, but the report names another. "
                "If it could not be resumed, report a failure: the run is planned anew."
            )
        return {"id": plan.resume.provider_thread_id}
    if plan.native_fork is not None and native in (None, plan.native_fork.native_thread_id):
        raise InvalidInput("The plan is a native fork: report the nativeThreadId of the new native thread.")
    return properties(
        ProviderThread(
            id=new_id(IdKind.PROVIDER_THREAD),
            thread_id=run.thread_id,
            provider=run.provider,
            native_thread_id=native,
            status=ProviderThreadStatus.ACTIVE,
            tip_run_id=run.id,
            tip_position=run.position,
            turns=0,
            ended_turns=0,
            created_at=unit.now,
        )
    )


async def _keep_fork(
    box: Toolbox, unit: Unit, locked: LockedRun, plan: StartPlan, given: ReportRunStarted, failure: StartFailure
) -> StartResult:
    """The native fork was made and its turn was not accepted: the run failed, and the next start uses the fork."""
    run = locked.run
    if plan.native_fork is None:
        raise InvalidInput(
            "A failure is reported with a nativeThreadId where the plan is a native fork and that was made. "
            "Leave nativeThreadId out."
        )
    await _require_fork_holds(box, unit, run, plan)
    provider_thread = _provider_thread(unit, run, plan, given)
    await unit.tx.demand(
        _KEEP_FORK,
        threadId=locked.thread.id,
        providerThread={**provider_thread, "tipRunId": plan.native_fork.run_id},
        forkedFromId=plan.native_fork.provider_thread_id,
        forkedThroughRunId=plan.native_fork.run_id,
    )
    passages = {
        transfer.id: resolution(transfer, Strategy.NATIVE_FORK, unit.now)
        for transfer in await _transfers(unit, run)
        if transfer.status is TransferStatus.PENDING
    }
    native = {"nativeThreadId": given.native_thread_id}
    await set_transfers(unit, [(key, {**passage.changes, **native}) for key, passage in passages.items()])
    return await _end(unit, locked, failure, None, **native, transfers=states_of(passages))


async def _replan(box: Toolbox, unit: Unit, locked: LockedRun, plan: StartPlan, failure: StartFailure) -> StartResult:
    """The native way failed. A thread that can't be resumed is lost; a fork that failed is not tried again here."""
    if plan.resume is not None:
        await unit.tx.demand(_LOSE, providerThreadId=plan.resume.provider_thread_id)
    told = f"{failure.code}: {failure.message}" if plan.native_fork else None
    provider = known_provider(box.providers, locked.run.provider)
    loaded = await load(unit.tx, locked.thread.id, provider, plan.forced, told)
    anew = plan_start(loaded.situation)
    if anew.outcome is Outcome.UNSUPPORTED:
        await fail_transfers(unit, loaded, anew)
        return await _end(unit, locked, failure, PlannedStart(plan=anew))
    start = await resolve(unit, loaded, anew, creator_of(locked.thread, provider))
    remembered = planned_properties(start)
    row = await unit.tx.demand(
        _SET_RUN,
        runId=locked.run.id,
        properties={
            "plan": remembered["plan"],
            "generation": generation_of(loaded),
            "transferIds": list(remembered["transfer_ids"]),
            "handoffIds": list(remembered["handoff_ids"]),
        },
        leaseMilliseconds=box.lease_milliseconds,
    )
    unit.record(
        "run.replanned",
        locked.thread,
        run_id=locked.run.id,
        transfer_id=next(iter(remembered["transfer_ids"]), None),
        data={"outcome": anew.outcome.value, "failure": failure.model_dump(mode="json", by_alias=True)},
    )
    return StartResult(run=Run.model_validate(row["run"]), start=start)


async def _end(
    unit: Unit,
    locked: LockedRun,
    failure: StartFailure,
    start: PlannedStart | None,
    **more: JsonValue,
) -> StartResult:
    """No way is left: the run failed before any provider accepted it, and is in no history.

    Its transfer stays as it is, for the next start, on whatever provider. `more` is for the event.
    """
    ended = await end_run(unit, locked, RunStatus.FAILED, reason=f"{failure.code}: {failure.message}")
    unit.record(
        "run.failed",
        locked.thread,
        run_id=locked.run.id,
        transfer_id=ended.result_id,
        data={"failure": failure.model_dump(mode="json", by_alias=True), **more},
    )
    return StartResult(run=ended.run, start=start)
