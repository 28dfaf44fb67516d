"""The `story` part of a scenario file: its steps, and what each must answer.

A step is a mapping with one verb and perhaps `expect`. After validation it is a `Step`, whose
`arguments` are one of the classes below, by verb.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from pydantic import Field, model_validator

from mockdriver.cloud import API_NAMES
from mockdriver.cloud.api import MAX_DISK_GIB
from mockdriver.cloud.errors import CloudError
from mockdriver.faults.fault import AFTER, BEFORE
from mockdriver.scenario.base_model import Model
from mockdriver.scenario.cloud_model import ApiQuotas, NewInstance, Slots
from mockdriver.scenario.code_names import ACCESS_MODES, CODES
from mockdriver.scenario.fault_model import FaultModel, Numbers, Request
from mockdriver.scenario.kinds import (
    DURATION,
    INT64_MAX,
    INT64_MIN,
    TEXT,
    Flag,
    Id,
    Kind,
    ListOf,
    Seconds,
    Text,
    count_or,
    mistake,
    name_of,
    whole_number,
)
from mockdriver.scenario.mistakes import not_allowed, not_among

MAX_COUNT = 100_000
MAX_WAITED_FOR = 10_000
"""So many calls are remembered."""

RUNNING = "RUNNING"
"""The code of a call that has not ended."""

Count = Annotated[int, whole_number(1, MAX_COUNT)]
CallCount = Annotated[int, whole_number(0, INT64_MAX)]
Int64 = Annotated[int, whole_number(INT64_MIN, INT64_MAX)]
AccessMode = Annotated[str, name_of("access mode", ACCESS_MODES)]
CodeName = Annotated[str, name_of("status code", CODES)]
ApiName = Annotated[str, name_of("cloud API", API_NAMES)]
Moment = Annotated[str, name_of("moment", (BEFORE, AFTER))]
CloudErrorName = Annotated[
    str, name_of("cloud error", sorted(kind.__name__ for kind in CloudError.__subclasses__()))
]


def _check_code_of_call(value: object) -> str:
    known = (*CODES, RUNNING)
    if isinstance(value, str):
        if value.removeprefix("!") in known:
            return value
        raise mistake(not_among("code", value, known))
    raise mistake(not_allowed(value, f"one of {', '.join(known)}, or ! and one of them"))


CodeOfCall = Annotated[
    str,
    Kind(_check_code_of_call, {"type": "string", "pattern": f"^!?({'|'.join(CODES)}|{RUNNING})$"}),
]


class VolumeOrCount(Model):
    """Names one volume, or asks for a number of them."""

    volume: Text | None = Field(default=None, description="A volume_id, or a made volume's name.")
    count: Count | None = Field(default=None, description="So many volumes.")

    @model_validator(mode="after")
    def _one_of_both(self) -> VolumeOrCount:
        _exactly_one(self, "volume", "count")
        return self


class DiskOrCount(Model):
    """Names one disk, or asks for a number of them."""

    instance: Text = Field(description="The instance.")
    disk: Text | None = Field(default=None, description="The disk.")
    count: Count | None = Field(default=None, description="So many disks.")
    wait: Flag = Field(default=True, description="Whether the step ends with the transition.")

    @model_validator(mode="after")
    def _one_of_both(self) -> DiskOrCount:
        _exactly_one(self, "disk", "count")
        return self


WAIT: Any = Field(
    default=True,
    description="false: the step leaves its calls under way; a later step is to collect them.",
)
AS: Any = Field(
    default=None, alias="as", description="With wait: false, what collect calls the step."
)


class OfTheCo(Model):
    """What every verb of the CO can have, as its last keys: it may leave its calls under way."""

    if TYPE_CHECKING:
        wait: bool
        as_: str | None

    @model_validator(mode="after")
    def _only_what_is_left_has_a_name(self) -> OfTheCo:
        if self.as_ is not None and self.wait:
            raise mistake("as is not allowed here, it goes with wait: false")
        return self


def _exactly_one(model: Model, first: str, second: str) -> None:
    given = [name for name in (first, second) if getattr(model, name) is not None]
    if len(given) != 1:
        found = "both are given" if given else "neither is given"
        raise mistake(f"{found}, exactly one of {first} and {second} is needed")


class Register(OfTheCo):
    """`register`: what a kubelet does, by what NodeGetCapabilities allows."""

    node: Text = Field(description="The instance whose node registers.")
    wait: Flag = WAIT
    as_: Text | None = AS


class Refresh(OfTheCo):
    """`refresh`: ControllerGetNodeInfo."""

    node: Text = Field(description="The node_id to ask for.")
    wait: Flag = WAIT
    as_: Text | None = AS


class NodeInfo(OfTheCo):
    """`node_info`: NodeGetInfo in the plain flow."""

    node: Text = Field(description="The instance whose node is asked.")
    wait: Flag = WAIT
    as_: Text | None = AS


class CreateVolume(OfTheCo):
    """`create_volume`: CreateVolume."""

    name: Text | None = Field(
        default=None, description="The CSI name; later steps can call the volume by it."
    )
    size_gib: Annotated[int, whole_number(0, MAX_DISK_GIB * 1024)] | None = Field(
        default=None, description="required_bytes in GiB."
    )
    required_bytes: Int64 | None = Field(default=None, description="capacity_range.required_bytes.")
    limit_bytes: Int64 | None = Field(default=None, description="capacity_range.limit_bytes.")
    zone: Text | None = Field(default=None, description="The only requisite zone.")
    access_mode: AccessMode = Field(
        default="SINGLE_NODE_WRITER", description="The access mode of the volume capability."
    )
    wait: Flag = WAIT
    as_: Text | None = AS

    @model_validator(mode="after")
    def _one_size(self) -> CreateVolume:
        if self.size_gib is not None and self.required_bytes is not None:
            raise mistake("both are given, only one of size_gib and required_bytes is allowed")
        return self


class DeleteVolume(OfTheCo):
    """`delete_volume`: DeleteVolume."""

    volume: Text = Field(description="A volume_id, or a made volume's name.")
    wait: Flag = WAIT
    as_: Text | None = AS


class Publish(VolumeOrCount, OfTheCo):
    """`publish`: ControllerPublishVolume. `count` first makes so many volumes."""

    node: Text = Field(description="The node_id to publish on.")
    concurrent: Flag = Field(default=False, description="Whether the calls go out all at once.")
    access_mode: AccessMode = Field(
        default="SINGLE_NODE_WRITER", description="The access mode of the volume capability."
    )
    readonly: Flag = Field(default=False, description="Publish as readonly.")
    wait: Flag = WAIT
    as_: Text | None = AS


class Unpublish(VolumeOrCount, OfTheCo):
    """`unpublish`: ControllerUnpublishVolume. Without `node`: from every node."""

    node: Text | None = Field(
        default=None, description="The node_id. Without it: every node (with `volume` only)."
    )
    concurrent: Flag = Field(default=False, description="Whether the calls go out all at once.")
    wait: Flag = WAIT
    as_: Text | None = AS

    @model_validator(mode="after")
    def _count_needs_node(self) -> Unpublish:
        if self.count is not None and self.node is None:
            raise mistake("node is missing, count needs it")
        return self


class Collect(Model):
    """`collect`: waits for a step that was left under way; `expect` is about its answers."""

    step: Text | None = Field(
        default=None, description="The step, by its `as`. Default: the one that began first."
    )


class Attach(DiskOrCount):
    """`attach`: attaches disks out of band."""


class Detach(DiskOrCount):
    """`detach`: detaches disks out of band."""


class AddNetworkInterface(Model):
    """`add_network_interface`: adds interfaces out of band."""

    instance: Text = Field(description="The instance.")
    count: Count = Field(default=1, description="How many.")


class RemoveNetworkInterface(Model):
    """`remove_network_interface`: removes the newest interfaces."""

    instance: Text = Field(description="The instance.")
    count: Count = Field(default=1, description="How many.")


class AddInstance(NewInstance):
    """`add_instance`: adds an instance, with the same keys as one of `cloud.instances`."""

    @model_validator(mode="after")
    def _has_id(self) -> AddInstance:
        if self.id is None:
            raise mistake("id is missing, a new instance needs one")
        return self


class TerminateInstance(Model):
    """`terminate_instance`: removes an instance and all that goes with it."""

    instance: Text = Field(description="The instance.")


class EditInstanceType(Model):
    """`edit_instance_type`: changes a type, or with `instance` gives an instance another type.

    Of a type only the keys that are given change; `slots: null` takes its limit away
    (`model_fields_set` tells which are given).
    """

    nulls: ClassVar[frozenset[str]] = frozenset({"slots"})

    type: Text = Field(description="The type to change, or the type that the instance gets.")
    instance: Text | None = Field(default=None, description="The instance to give the type to.")
    slots: Slots | None = Field(default=None, description="The new number; null means no limit.")
    network_interfaces_share_slots: Flag | None = Field(
        default=None, description="Whether each network interface uses a slot."
    )
    boot_disk_uses_slot: Flag | None = Field(
        default=None, description="Whether the boot disk uses a slot."
    )

    @model_validator(mode="after")
    def _one_meaning(self) -> EditInstanceType:
        changes = self.changes()
        if self.instance is not None and changes:
            raise mistake(
                f"{', '.join(changes)} is not allowed beside instance, allowed: type alone"
            )
        if self.instance is None and not changes:
            raise mistake(
                "nothing to change, allowed: instance, slots, network_interfaces_share_slots, "
                "boot_disk_uses_slot"
            )
        return self

    def changes(self) -> dict[str, Any]:
        """Return the fields of the type that change, by name, ready for dataclasses.replace."""
        given = self.model_fields_set - {"type", "instance"}
        return {name: getattr(self, name) for name in type(self).model_fields if name in given}


class SetQuota(ApiQuotas):
    """`set_quota`: gives APIs a new quota, in the place of all of the old one."""

    @model_validator(mode="after")
    def _has_one(self) -> SetQuota:
        if not self.quotas():
            raise mistake(f"no API is given, allowed: {', '.join(API_NAMES)}")
        return self


class Release(Model):
    """`release`: ends what is held: transitions, and calls at the barriers of faults.

    With `instance` or `disk` only transitions, with `barrier` only calls.
    """

    instance: Text | None = Field(default=None, description="Only transitions on this instance.")
    disk: Text | None = Field(default=None, description="Only transitions of this disk.")
    barrier: Text | None = Field(default=None, description="Only calls at this barrier.")
    calls: Count | None = Field(
        default=None, description="So many calls, those that are held longest. Default: all."
    )

    @model_validator(mode="after")
    def _one_meaning(self) -> Release:
        if self.barrier is None and self.calls is not None:
            raise mistake("barrier is missing, calls needs it")
        if self.barrier is not None and (self.instance is not None or self.disk is not None):
            raise mistake("barrier is not allowed beside instance and disk, which mean transitions")
        return self


class AddFault(FaultModel):
    """`add_fault`: adds a fault, with the same keys as one of `faults`."""

    before: Text | None = Field(
        default=None, description="The fault that it comes before. Default: at the end."
    )


class ClearFaults(Model):
    """`clear_faults`: removes faults and releases the calls that they hold."""

    name: Text | None = Field(default=None, description="Only this fault. Default: all.")


class Hold(Model):
    """`hold`: adds a fault that holds calls of an RPC at a barrier, until they are released."""

    rpc: Text = Field(description="The RPC, with * and ? as in a shell.")
    barrier: Id | None = Field(
        default=None, description="The barrier's name. Default: that of rpc."
    )
    name: Id | None = Field(
        default=None, description="The fault's name. Default: fault-1 and so on."
    )
    node_id: Text | None = Field(
        default=None, description="The node that the call is about, with * and ?."
    )
    request: Request = Field(
        default_factory=dict, description="Values of fields of the request by path, with * and ?."
    )
    calls: Numbers | None = Field(
        default=None, description="Which of the calls that match. Default: all."
    )
    times: Count | None = Field(default=None, description="Holds so many calls at most.")
    when: Moment = Field(
        default="before", description="before: the work is not done yet. after: it is done."
    )

    def fault(self) -> FaultModel:
        """Return the fault that this adds."""
        given = self.model_dump(exclude={"barrier"}, exclude_none=True)
        return FaultModel.model_construct(**given, hold=self.barrier or self.rpc)


class CallFilter(Model):
    """Which calls of the driver are meant: each key that is given must be met."""

    rpc: Text | None = Field(default=None, description="The RPC, with * and ? as in a shell.")
    service: Text | None = Field(default=None, description="The service: Controller, Node ….")
    node_id: Text | None = Field(
        default=None, description="The node that the call is about, with * and ?."
    )
    code: CodeOfCall | None = Field(
        default=None, description="How it ended: a code, RUNNING, or !OK for any other one."
    )
    request: Request = Field(
        default_factory=dict, description="Values of fields of the request by path, with * and ?."
    )
    response: Request = Field(
        default_factory=dict, description="Values of fields of the response by path, with * and ?."
    )
    fault: Text | None = Field(default=None, description="A fault that acted on it, by name.")
    message: Text | None = Field(default=None, description="Text in the message beside the code.")


class WaitForCalls(CallFilter):
    """`wait_for_calls`: waits until so many calls match, or are held at a barrier."""

    barrier: Text | None = Field(
        default=None, description="Calls that are held at this barrier; no filter goes with it."
    )
    count: Annotated[int, whole_number(1, MAX_WAITED_FOR)] = Field(
        default=1, description="How many calls."
    )
    arrived: Flag = Field(
        default=False, description="Count calls when they arrive, not when they end."
    )
    timeout_seconds: Seconds | None = Field(
        default=None, alias="timeout", description="How long to wait at most. Default: 10s."
    )

    @model_validator(mode="after")
    def _barrier_alone(self) -> WaitForCalls:
        given = [name for name in (*CallFilter.model_fields, "arrived") if getattr(self, name)]
        if self.barrier is not None and given:
            raise mistake(f"{', '.join(given)} is not allowed beside barrier, allowed: count")
        return self


class Calls(CallFilter):
    """`calls`: looks at the calls so far; `expect` says how many must match."""

    in_this_order: ListOf[CallFilter] = Field(
        default=(), description="A call for each of these, one after the other; others between."
    )


class RestartDriver(Model):
    """`restart_driver`: stops the driver and starts it again."""

    state: Annotated[str, name_of("state", ("keep", "lose"))] = Field(
        default="keep", description="keep: the cloud stays. lose: the scenario starts over."
    )


@dataclass(frozen=True, slots=True)
class Advance:
    """`advance`: moves the clock."""

    seconds: float


def _check_advance(value: object) -> Advance:
    seconds = DURATION.check(value)
    assert isinstance(seconds, float)
    return Advance(seconds)


AdvanceRule = Annotated[Advance, Kind(_check_advance, DURATION.schema)]

Arguments = (
    Register
    | Refresh
    | NodeInfo
    | CreateVolume
    | DeleteVolume
    | Publish
    | Unpublish
    | Collect
    | Attach
    | Detach
    | AddNetworkInterface
    | RemoveNetworkInterface
    | AddInstance
    | TerminateInstance
    | EditInstanceType
    | SetQuota
    | Release
    | AddFault
    | ClearFaults
    | Hold
    | WaitForCalls
    | Calls
    | Advance
    | RestartDriver
)


@dataclass(frozen=True, slots=True)
class Comparison:
    """What a counter is compared with: `holds(n)` tells whether n is as expected."""

    sign: str
    number: int

    def holds(self, counted: int) -> bool:
        """Tell whether `counted` is as expected."""
        return _SIGNS[self.sign](counted, self.number)

    def __str__(self) -> str:
        return f"{self.sign} {self.number}"


_SIGNS: Mapping[str, Callable[[int, int], bool]] = {
    "==": operator.eq,
    "<=": operator.le,
    ">=": operator.ge,
    "<": operator.lt,
    ">": operator.gt,
}
_COMPARISON = re.compile(r"(==|<=|>=|<|>) *([0-9]{1,18})")
_COMPARISON_WORDS = 'a whole number, or a comparison such as "<= 5" with ==, <, <=, > or >='


def _check_comparison(value: object) -> Comparison:
    if type(value) is int and value >= 0:
        return Comparison("==", value)
    found = _COMPARISON.fullmatch(value.strip()) if isinstance(value, str) else None
    if found is None:
        raise mistake(not_allowed(value, _COMPARISON_WORDS))
    return Comparison(found[1], int(found[2]))


_comparison_schema = {
    "anyOf": [
        {"type": "integer", "minimum": 0},
        {"type": "string", "pattern": r"^\s*(==|<=|>=|<|>) *[0-9]{1,18}\s*$"},
    ]
}
ComparisonRule = Annotated[Comparison, Kind(_check_comparison, _comparison_schema)]
VolumeIds = Annotated[int | tuple[str, ...], count_or(TEXT, 0, 1_000_000, "ids, in any order")]


class Expect(Model):
    """What a step must answer. A step without codes expects OK of every call.

    `model_fields_set` tells `effective_limit: null` (it must be unset) from no `effective_limit`.
    """

    nulls: ClassVar[frozenset[str]] = frozenset({"effective_limit"})

    OK: CallCount | None = Field(default=None, description="How many calls end so.")
    CANCELLED: CallCount | None = Field(default=None, description="How many calls end so.")
    UNKNOWN: CallCount | None = Field(default=None, description="How many calls end so.")
    INVALID_ARGUMENT: CallCount | None = Field(default=None, description="How many calls end so.")
    DEADLINE_EXCEEDED: CallCount | None = Field(default=None, description="How many calls end so.")
    NOT_FOUND: CallCount | None = Field(default=None, description="How many calls end so.")
    ALREADY_EXISTS: CallCount | None = Field(default=None, description="How many calls end so.")
    PERMISSION_DENIED: CallCount | None = Field(default=None, description="How many calls end so.")
    RESOURCE_EXHAUSTED: CallCount | None = Field(default=None, description="How many calls end so.")
    FAILED_PRECONDITION: CallCount | None = Field(
        default=None, description="How many calls end so."
    )
    ABORTED: CallCount | None = Field(default=None, description="How many calls end so.")
    OUT_OF_RANGE: CallCount | None = Field(default=None, description="How many calls end so.")
    UNIMPLEMENTED: CallCount | None = Field(default=None, description="How many calls end so.")
    INTERNAL: CallCount | None = Field(default=None, description="How many calls end so.")
    UNAVAILABLE: CallCount | None = Field(default=None, description="How many calls end so.")
    DATA_LOSS: CallCount | None = Field(default=None, description="How many calls end so.")
    UNAUTHENTICATED: CallCount | None = Field(default=None, description="How many calls end so.")
    code: CodeName | None = Field(default=None, description="How the one call ends.")
    error: CloudErrorName | None = Field(
        default=None, description="What the cloud refuses an out-of-band step with."
    )
    max_volumes_per_node: Int64 | None = Field(default=None, description="The reported limit.")
    published_volume_ids: VolumeIds | None = Field(
        default=None, description="The reported ids as a set, or how many there are."
    )
    effective_limit: Int64 | None = Field(
        default=None, description="What the CO computes; null: it is unset."
    )
    node_id: Text | None = Field(default=None, description="The reported node_id.")
    accessible_topology: dict[Text, Text] | None = Field(
        default=None, description="All segments of the reported topology."
    )
    volume_id: Text | None = Field(default=None, description="The made volume's id.")
    capacity_bytes: Int64 | None = Field(default=None, description="The made volume's size.")
    publish_context: dict[Text, Text] | None = Field(
        default=None, description="The whole publish_context."
    )
    count: ComparisonRule | None = Field(
        default=None, description="How many calls match, as a number or a comparison."
    )
    cloud_calls: dict[ApiName, ComparisonRule] = Field(
        default_factory=dict, description="Calls of cloud APIs since the step began."
    )

    @model_validator(mode="after")
    def _code_or_counts(self) -> Expect:
        if self.code is not None and self.codes:
            raise mistake(
                f"code and counts ({', '.join(self.codes)}) are both given, only one is allowed"
            )
        return self

    @property
    def codes(self) -> dict[str, int]:
        """How many calls must end with each code; empty if the step names none."""
        counts = {name: getattr(self, name) for name in CODES}
        return {name: count for name, count in counts.items() if count is not None}

    def gives(self, name: str) -> bool:
        """Tell whether the file has this key, be it with null where null is a value."""
        return name in self.model_fields_set


class StepModel(Model):
    """One step of a story: one verb, and what it must answer."""

    register_: Register | None = Field(
        default=None, alias="register", description="A node registers, as a kubelet does it."
    )
    refresh: Refresh | None = Field(default=None, description="ControllerGetNodeInfo.")
    node_info: NodeInfo | None = Field(default=None, description="NodeGetInfo, plain flow.")
    create_volume: CreateVolume | None = Field(default=None, description="CreateVolume.")
    delete_volume: DeleteVolume | None = Field(default=None, description="DeleteVolume.")
    publish: Publish | None = Field(default=None, description="ControllerPublishVolume.")
    unpublish: Unpublish | None = Field(default=None, description="ControllerUnpublishVolume.")
    collect: Collect | None = Field(
        default=None, description="Wait for a step that was left under way."
    )
    attach: Attach | None = Field(default=None, description="Attach disks out of band.")
    detach: Detach | None = Field(default=None, description="Detach disks out of band.")
    add_network_interface: AddNetworkInterface | None = Field(
        default=None, description="Add network interfaces out of band."
    )
    remove_network_interface: RemoveNetworkInterface | None = Field(
        default=None, description="Remove network interfaces out of band."
    )
    add_instance: AddInstance | None = Field(default=None, description="Add an instance.")
    terminate_instance: TerminateInstance | None = Field(
        default=None, description="Remove an instance."
    )
    edit_instance_type: EditInstanceType | None = Field(
        default=None, description="Change a type, or give an instance another one."
    )
    set_quota: SetQuota | None = Field(default=None, description="Give cloud APIs new quotas.")
    release: Release | None = Field(
        default=None, description="End held transitions, and let held calls go on."
    )
    add_fault: AddFault | None = Field(default=None, description="Make something go wrong.")
    clear_faults: ClearFaults | None = Field(
        default=None, description="Remove faults and release what they hold."
    )
    hold: Hold | None = Field(default=None, description="Hold calls of an RPC at a barrier.")
    wait_for_calls: WaitForCalls | None = Field(
        default=None, description="Wait until so many calls match, or are held."
    )
    calls: Calls | None = Field(default=None, description="Look at the calls so far.")
    advance: AdvanceRule | None = Field(default=None, description="Move the clock.")
    restart_driver: RestartDriver | None = Field(
        default=None, description="Stop the driver and start it again."
    )
    expect: Expect = Field(
        default_factory=Expect.model_construct, description="What the step must answer."
    )

    @model_validator(mode="before")
    @classmethod
    def _bare_verb_has_no_arguments(cls, data: Any) -> Any:
        # `- release:` is what people write who have nothing to add
        if isinstance(data, dict):
            return {
                key: _NO_ARGUMENTS.get(key) if value is None else value
                for key, value in data.items()
            }
        return data

    @model_validator(mode="after")
    def _one_verb(self) -> StepModel:
        given = [verb for verb in VERBS if getattr(self, _field(verb)) is not None]
        if not given:
            raise mistake(f"a step without a verb, allowed: {', '.join(VERBS)}")
        if len(given) > 1:
            raise mistake(f"verbs {', '.join(given)} in one step, exactly one is allowed")
        return self

    def verb_and_arguments(self) -> tuple[str, Arguments]:
        """Return the one verb of the step, and its arguments."""
        for verb in VERBS:
            arguments: Arguments | None = getattr(self, _field(verb))
            if arguments is not None:
                return verb, arguments
        raise AssertionError("a step has a verb, _one_verb sees to it")


def _field(verb: str) -> str:
    # BaseModel has a method `register` from its metaclass, which a field would hide
    return "register_" if verb == "register" else verb


VERBS = tuple(
    field.alias or name for name, field in StepModel.model_fields.items() if name != "expect"
)
"""All verbs, in the order in which they are listed to people."""

_NO_ARGUMENTS: Mapping[str, Any] = {verb: "" if verb == "advance" else {} for verb in VERBS}


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a story, and where in its file it stands (line and column count from 1).

    `under_way` is what a step that is left under way goes by, and the step that collects it.
    """

    verb: str
    arguments: Arguments
    expect: Expect
    line: int
    column: int
    under_way: str = ""
