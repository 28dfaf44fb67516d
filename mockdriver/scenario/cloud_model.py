"""The `cloud` part of a scenario file: what there is when the story begins."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

from pydantic import BeforeValidator, Field, Strict, model_validator

from mockdriver.cloud import (
    DEFAULT_CAPACITY_GIB,
    DEFAULT_REGION,
    AttachmentState,
    Quota,
    Transition,
)
from mockdriver.cloud.api import MAX_DISK_GIB, MIN_DISK_GIB
from mockdriver.scenario.base_model import Model
from mockdriver.scenario.codec import record
from mockdriver.scenario.kinds import (
    Flag,
    Id,
    IdsOrCount,
    Kind,
    ListOf,
    Seconds,
    Tags,
    mistake,
    name_of,
    number,
    whole_number,
)
from mockdriver.scenario.mistakes import not_allowed, not_among
from mockdriver.scenario.transition_kinds import TRANSITIONS, TransitionRule, Waiting

MAX_SLOTS = 1_000_000
MAX_CAPACITY_GIB = 2**32
MAX_INSTANCES = 50_000
MAX_COUNT_FROM = 1_000_000_000
MAX_QUOTA = 1_000_000_000

PROVIDERS = ("generic",)
LATER_PROVIDERS = ("aws", "alibaba", "gcp", "azure")

Slots = Annotated[int, whole_number(0, MAX_SLOTS)]
SizeGib = Annotated[int, whole_number(MIN_DISK_GIB, MAX_DISK_GIB)]


def _check_provider(value: object) -> str:
    if isinstance(value, str):
        if value in PROVIDERS:
            return value
        if value in LATER_PROVIDERS:
            raise mistake(f"provider {value} is not built yet, allowed: {', '.join(PROVIDERS)}")
        raise mistake(not_among("provider", value, (*PROVIDERS, *LATER_PROVIDERS)))
    raise mistake(not_allowed(value, f"one of {', '.join(PROVIDERS)}"))


class InstanceTypeModel(Model):
    """A type of instances: how many slots there are, and who uses them."""

    nulls: ClassVar[frozenset[str]] = frozenset({"slots"})

    slots: Slots | None = Field(
        default=None,
        description="Units of attachment capacity. Null, or without it, there is no limit.",
    )
    network_interfaces_share_slots: Flag = Field(
        default=False, description="Whether each network interface uses a slot."
    )
    boot_disk_uses_slot: Flag = Field(
        default=True, description="Whether the boot disk uses a slot."
    )


class NewInstance(Model):
    """One instance, with what is on it."""

    id: Id | None = Field(
        default=None, description="The id, which is also the CSI node_id. Default: i-<position>."
    )
    type: Id | None = Field(
        default=None, description="One of instance_types. Without it there is no limit."
    )
    zone: Id | None = Field(
        default=None, description="Default: the first of `zones`, else the region's zone a."
    )
    network_interfaces: IdsOrCount = Field(
        default=1, description="Network interfaces: a number, or a list of ids."
    )
    boot_disk: Id | None = Field(default=None, description="Id of the boot disk. Default: none.")
    attached: IdsOrCount = Field(
        default=0, description="Disks attached out of band: a number, or a list of ids."
    )
    published: IdsOrCount = Field(
        default=0,
        description="Disks that the CO published through this driver: a number, or a list of ids.",
    )


class InstanceModel(NewInstance):
    """One instance, or `count` that are alike; `{n}` in their ids counts from 1."""

    count: Annotated[int, whole_number(1, MAX_INSTANCES)] | None = Field(
        default=None, description="So many instances; `{n}` in ids stands for 1, 2, 3 …"
    )
    count_from: Annotated[int, whole_number(1, MAX_COUNT_FROM)] = Field(
        default=1, description="What `{n}` stands for first."
    )

    @model_validator(mode="after")
    def _count_from_has_a_count(self) -> InstanceModel:
        if self.count is None and self.count_from != 1:
            raise mistake("count is missing, count_from says where it begins")
        return self


class DiskModel(Model):
    """A disk that differs from the defaults, or that is attached to nothing yet."""

    id: Id = Field(description="The id, which is also the CSI volume_id.")
    size_gib: SizeGib = Field(default=10, description="Size in GiB.")
    zone: Id | None = Field(
        default=None, description="Default: the zone of the instance that it is attached to."
    )
    max_attachments: Annotated[int, whole_number(1, MAX_SLOTS)] = Field(
        default=1, description="The number of instances that it can be attached to at once."
    )
    boot: Flag = Field(
        default=False,
        description="Whether it is a boot disk; an instance's `boot_disk` is one anyway.",
    )
    tags: Tags = Field(default_factory=dict, description="Its tags: text by name.")


class AttachmentModel(Model):
    """An attachment that the lists of an instance cannot tell of."""

    disk: Id = Field(description="The disk.")
    instance: Id = Field(description="The instance that it is attached to.")
    state: Annotated[str, name_of("state", [state.value for state in AttachmentState])] = Field(
        default=AttachmentState.ATTACHED.value,
        description="Where the attachment stands: attaching, attached, detaching or busy.",
    )
    waits_for: Waiting | None = Field(
        default=None,
        description="What ends a state that is not attached: held, a duration, or reads.",
    )
    published: Flag = Field(
        default=False, description="Whether the CO published it through this driver."
    )
    tags: Tags = Field(
        default_factory=dict, description="Tags of the attachment, besides those of the driver."
    )
    force: Flag = Field(
        default=False,
        description="Make it past the slots, in another zone, or past max_attachments.",
    )

    @model_validator(mode="after")
    def _attached_waits_for_nothing(self) -> AttachmentModel:
        if self.waits_for is not None and self.state == AttachmentState.ATTACHED.value:
            raise mistake("waits_for is given, allowed with another state than attached")
        return self


class TransitionsModel(Model):
    """How long attaching and detaching take."""

    attach: TransitionRule = Field(
        default=Transition(), description=f"How long attaching takes: {TRANSITIONS}."
    )
    detach: TransitionRule = Field(
        default=Transition(), description=f"How long detaching takes: {TRANSITIONS}."
    )


class QuotaModel(Model):
    """The limits of one cloud API; what is not given is not limited."""

    burst: Annotated[int, whole_number(0, MAX_QUOTA)] | None = Field(
        default=None, description="Tokens in a full bucket; each call takes one."
    )
    per_second: Annotated[float, number(0, MAX_QUOTA)] | None = Field(
        default=None, description="New tokens per second."
    )
    max_ids: Annotated[int, whole_number(1, MAX_QUOTA)] | None = Field(
        default=None, description="Ids that one call may name."
    )
    delay_seconds: Seconds = Field(
        default=0.0, alias="delay", description="What each call takes, as a duration."
    )

    @model_validator(mode="after")
    def _bucket_is_whole(self) -> QuotaModel:
        if (self.burst is None) != (self.per_second is None):
            missing = "burst" if self.burst is None else "per_second"
            raise mistake(f"{missing} is missing, burst and per_second come together")
        return self

    def quota(self) -> Quota:
        """Return what the cloud knows as the quota."""
        return record(Quota, self)


class ApiQuotas(Model):
    """Quotas of the cloud's APIs, by name."""

    describe_instances: QuotaModel | None = Field(default=None, description="Describing instances.")
    describe_types: QuotaModel | None = Field(default=None, description="Describing types.")
    describe_disks: QuotaModel | None = Field(default=None, description="Describing disks.")
    attach: QuotaModel | None = Field(default=None, description="Attaching a disk.")
    detach: QuotaModel | None = Field(default=None, description="Detaching a disk.")
    create_disk: QuotaModel | None = Field(default=None, description="Creating a disk.")
    delete_disk: QuotaModel | None = Field(default=None, description="Deleting a disk.")

    def quotas(self) -> dict[str, Quota]:
        """Return the quotas that are given, by API name."""
        given = {name: getattr(self, name) for name in type(self).model_fields}
        return {name: model.quota() for name, model in given.items() if model is not None}


def _one_or_many(value: Any) -> Any:
    return [value] if isinstance(value, dict) else value


class CloudModel(Model):
    """The simulated cloud."""

    provider: Annotated[str, Kind(_check_provider, {"enum": list(PROVIDERS)})] = Field(
        default="generic", description="Topology keys, id shapes and habits of a cloud."
    )
    region: Id = Field(default=DEFAULT_REGION, description="The region's name.")
    zones: ListOf[Id] | None = Field(
        default=None, description="The zones. Default: those that instances and disks name."
    )
    zones_are_fixed: Flag | None = Field(
        default=None,
        description="Whether nothing can be in another zone. Default: if `zones` is given.",
    )
    default_zone: Id | None = Field(
        default=None,
        description="The zone of what names none. Default: the first of `zones`, else the "
        "region's zone a.",
    )
    capacity_gib: Annotated[int, whole_number(0, MAX_CAPACITY_GIB)] = Field(
        default=DEFAULT_CAPACITY_GIB, description="Room for disks in each zone, in GiB."
    )
    instance_types: dict[Id, InstanceTypeModel] = Field(
        default_factory=dict, description="The types of instances, by name."
    )
    instances: Annotated[
        tuple[InstanceModel, ...],
        Strict(False),
        BeforeValidator(_one_or_many, json_schema_input_type=InstanceModel | list[InstanceModel]),
    ] = Field(default=(), description="The instances: a list, or one mapping with a count.")
    disks: ListOf[DiskModel] = Field(
        default=(), description="The disks that instances don't create with defaults."
    )
    attachments: ListOf[AttachmentModel] = Field(
        default=(), description="Attachments that the lists of instances cannot tell of."
    )
    transitions: TransitionsModel = Field(
        default_factory=TransitionsModel.model_construct,
        description="How changes of attachments take their time.",
    )
    api: ApiQuotas = Field(
        default_factory=ApiQuotas.model_construct, description="Quotas of the cloud's APIs."
    )
