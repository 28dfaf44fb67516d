"""What reflection serves when provisional numbers are overridden."""

from __future__ import annotations

from google.protobuf import descriptor_pool
from google.protobuf.descriptor_pool import DescriptorPool

from csi_spec import csi_pb2
from mockdriver.driver.capabilities import GET_NODE_INFO, NODE_INFO_FROM_CONTROLLER, Capabilities
from mockdriver.driver.descriptors import reflected

OVERRIDDEN = Capabilities(numbers={GET_NODE_INFO: 77, NODE_INFO_FROM_CONTROLLER: 12})


def numbers_of(pool: DescriptorPool, enum: str) -> dict[str, int]:
    """Return the numbers of an enum's values by name."""
    descriptor = pool.FindEnumTypeByName(enum)
    return {value.name: value.number for value in descriptor.values}


def test_without_overrides_it_is_the_pool_of_the_program() -> None:
    assert reflected(Capabilities()) is descriptor_pool.Default()


def test_overridden_numbers_stand_under_their_names() -> None:
    pool = reflected(OVERRIDDEN)
    controller = numbers_of(pool, "csi.v1.ControllerServiceCapability.RPC.Type")
    node = numbers_of(pool, "csi.v1.NodeServiceCapability.RPC.Type")
    assert controller["GET_NODE_INFO"] == 77
    assert node["NODE_INFO_FROM_CONTROLLER"] == 12


def test_all_other_numbers_stay() -> None:
    pool = reflected(OVERRIDDEN)
    for name, changed in [
        ("csi.v1.ControllerServiceCapability.RPC.Type", "GET_NODE_INFO"),
        ("csi.v1.NodeServiceCapability.RPC.Type", "NODE_INFO_FROM_CONTROLLER"),
    ]:
        before = numbers_of(descriptor_pool.Default(), name)
        after = numbers_of(pool, name)
        assert before.pop(changed) != after.pop(changed)
        assert before == after


def test_one_overridden_number_leaves_the_other_as_it_was() -> None:
    pool = reflected(Capabilities(numbers={GET_NODE_INFO: 77}))
    node = numbers_of(pool, "csi.v1.NodeServiceCapability.RPC.Type")
    assert node["NODE_INFO_FROM_CONTROLLER"] == 9


def test_the_program_itself_keeps_the_numbers_of_csi_proto() -> None:
    reflected(OVERRIDDEN)
    assert csi_pb2.ControllerServiceCapability.RPC.GET_NODE_INFO == 18
    assert csi_pb2.NodeServiceCapability.RPC.NODE_INFO_FROM_CONTROLLER == 9


def test_the_pool_has_every_service_and_reflection_itself() -> None:
    pool = reflected(OVERRIDDEN)
    for name in csi_pb2.DESCRIPTOR.services_by_name:
        methods = pool.FindServiceByName(f"csi.v1.{name}").methods_by_name
        assert list(methods) == list(csi_pb2.DESCRIPTOR.services_by_name[name].methods_by_name)
    reflection = pool.FindServiceByName("grpc.reflection.v1alpha.ServerReflection")
    assert list(reflection.methods_by_name) == ["ServerReflectionInfo"]
    for dependency in csi_pb2.DESCRIPTOR.dependencies:
        assert pool.FindFileByName(dependency.name).serialized_pb == dependency.serialized_pb


def test_the_secret_fields_are_still_marked() -> None:
    field = (
        reflected(OVERRIDDEN)
        .FindMessageTypeByName("csi.v1.CreateVolumeRequest")
        .fields_by_name["secrets"]
    )
    assert field.GetOptions().Extensions[csi_pb2.csi_secret]
