//! What files from strangers may name: includes, traces, devices, and text that a terminal prints.
