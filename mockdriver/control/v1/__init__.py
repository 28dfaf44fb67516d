"""The messages and stubs of `mockdriver.control.v1`, compiled from the .proto files beside."""
