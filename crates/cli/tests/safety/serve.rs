//! Those who ask the server of the store.
