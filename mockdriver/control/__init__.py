"""The control API, `mockdriver.control.v1`: steers a running mock and reads all of its state.

Nothing is imported here: a client needs only the messages in `mockdriver.control.v1`.
"""
