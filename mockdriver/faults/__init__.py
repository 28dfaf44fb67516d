"""What goes wrong on purpose: an ordered list of faults, and the barriers that hold calls.

* `fault.Fault` is one fault as data; `engine.FaultEngine` has the list of them.
* `flaws.flaws_of` tells what is wrong with a fault, `field_paths` names fields of messages.

Nothing heavy is imported here: a scenario without faults does not pay for protobuf's messages.
"""

from mockdriver.faults.fault import Fault

__all__ = ["Fault"]
