//! Protocols that the requirement documents propose and that do not work, each as a medium. They are here
//! to be found out: a simulator that does not see their bugs would not see ours either. Nothing outside
//! this crate may ever use them.

pub mod create_then_write;
pub mod early_acknowledgement;
pub mod fence_in_lock;
pub mod ignored_sync_failure;
pub mod register_twins;
pub mod removed_guard;
pub mod rename_then_mkdir;
pub mod shared_tmp_steal;
pub mod trusted_index;
