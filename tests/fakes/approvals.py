"""Questions to the approvers, in memory."""

from tests.fakes.world import Asked, World
from workflows.domain.approval import ApprovalState, Plea, Question
from workflows.domain.lifecycle import State
from workflows.domain.notice import NoticeType
from workflows.domain.operation import Operation


class MemoryApprovals:
    """Fits `activities.ports.Approvals`."""

    def __init__(self, world: World) -> None:
        self._world = world

    async def latest(self, operation_id: str) -> Question | None:
        questions = self._world.questions(operation_id)
        for asked in questions:
            if asked.expires_at <= self._world.now:
                self._world.close(asked, ApprovalState.EXPIRED, NoticeType.EXPIRED)
        return self._question(questions[-1]) if questions else None

    async def ask(self, operation: Operation, plea: Plea) -> Question:
        kept = self._world.kept(operation.operation_id)
        questions = self._world.questions(operation.operation_id)
        if questions and questions[-1].open:
            return self._question(questions[-1])
        if kept.operation.state is not State.AWAITING_APPROVAL:
            kept.step(State.AWAITING_APPROVAL)
        return self._question(self._open(operation.operation_id, plea, len(questions) + 1))

    async def void(self, approval_id: str) -> ApprovalState:
        asked = self._world.approvals[approval_id]
        self._world.close(asked, ApprovalState.VOID, NoticeType.VOID)
        return asked.state

    def _open(self, operation_id: str, plea: Plea, revision: int) -> Asked:
        approval_id = f"ap_{len(self._world.approvals) + 1}"
        ends = self._world.now + plea.rule.expires_seconds
        rule = plea.rule
        items = {item.id: item.version for item in plea.impact.items}
        asked = Asked(approval_id, operation_id, revision, plea.binding, rule.approver_role, rule.quorum, ends, items)
        self._world.approvals[approval_id] = asked
        self._world.announce(NoticeType.ASKED, operation_id)
        return asked

    def _question(self, asked: Asked) -> Question:
        left = max(0.0, asked.expires_at - self._world.now)
        return Question(asked.approval_id, asked.state, asked.binding, left, asked.approver_role, asked.items)
