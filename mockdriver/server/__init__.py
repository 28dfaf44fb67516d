"""The composition root: cloud, driver, journal and sockets made into a running server."""
