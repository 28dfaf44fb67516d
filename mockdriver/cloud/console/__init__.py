"""The operator's console, by subject: each module has what can be done to one kind of resource."""
