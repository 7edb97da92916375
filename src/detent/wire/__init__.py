"""The shapes jobs and events have on the wires of the five documents. Pure: from records to shapes and back."""
