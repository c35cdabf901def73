"""Messages of the other side, each marked by its writer with what it says; `marked` reads the marks."""
