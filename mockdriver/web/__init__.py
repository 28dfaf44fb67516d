"""What the HTTP servers share: their addresses, and who may talk to them."""
