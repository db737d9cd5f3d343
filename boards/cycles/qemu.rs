//! The few functions of QEMU's plugin interface, version 1, that this plugin calls. They are symbols of the QEMU executable.
//!
//! Documented in QEMU's `include/qemu/qemu-plugin.h`.
use std::ffi::{c_int, c_uint, c_void};

/// Names this plugin in every call.
pub(crate) type PluginId = u64;
/// A translation block: guest code that QEMU translates, and later executes, in one go.
#[repr(C)]
pub(crate) struct Tb {
    _opaque: [u8; 0],
}
/// An instruction of a translation block.
#[repr(C)]
pub(crate) struct Insn {
    _opaque: [u8; 0],
}
/// Called when a block is translated.
pub(crate) type OnTranslation = extern "C" fn(PluginId, *mut Tb);
/// Called when a block, or an instruction, is about to be executed: number of the virtual CPU, and what was registered with it.
pub(crate) type OnExecution = extern "C" fn(c_uint, *mut c_void);
/// Says how large an access to memory is, and more.
pub(crate) type Access = u32;
/// Called when an instruction has accessed memory: number of the virtual CPU, what kind of access, address, and what was registered
/// with it.
pub(crate) type OnAccess = extern "C" fn(c_uint, Access, u64, *mut c_void);
/// Called when QEMU exits.
pub(crate) type OnExit = extern "C" fn(PluginId, *mut c_void);

/// `QEMU_PLUGIN_CB_NO_REGS`: a callback neither reads nor writes registers.
pub(crate) const NO_REGISTERS: c_int = 0;

/// `QEMU_PLUGIN_MEM_RW`: accesses of either kind. QEMU 7.2 never calls who asks for those that read only.
pub(crate) const READS_AND_WRITES: c_int = 3;

/// The version of the interface; QEMU looks it up by this name.
#[no_mangle]
#[allow(non_upper_case_globals)]
pub static qemu_plugin_version: c_int = 1;

extern "C" {
    pub(crate) fn qemu_plugin_register_vcpu_tb_trans_cb(id: PluginId, call: OnTranslation);
    pub(crate) fn qemu_plugin_register_vcpu_tb_exec_cb(
        tb: *mut Tb,
        call: OnExecution,
        flags: c_int,
        data: *mut c_void,
    );
    pub(crate) fn qemu_plugin_register_vcpu_insn_exec_cb(
        insn: *mut Insn,
        call: OnExecution,
        flags: c_int,
        data: *mut c_void,
    );
    pub(crate) fn qemu_plugin_register_vcpu_mem_cb(
        insn: *mut Insn,
        call: OnAccess,
        flags: c_int,
        accesses: c_int,
        data: *mut c_void,
    );
    pub(crate) fn qemu_plugin_mem_size_shift(access: Access) -> c_uint;
    pub(crate) fn qemu_plugin_register_atexit_cb(id: PluginId, call: OnExit, data: *mut c_void);
    pub(crate) fn qemu_plugin_tb_n_insns(tb: *const Tb) -> usize;
    pub(crate) fn qemu_plugin_tb_vaddr(tb: *const Tb) -> u64;
    pub(crate) fn qemu_plugin_tb_get_insn(tb: *const Tb, index: usize) -> *mut Insn;
    pub(crate) fn qemu_plugin_insn_data(insn: *const Insn) -> *const c_void;
    pub(crate) fn qemu_plugin_insn_size(insn: *const Insn) -> usize;
    pub(crate) fn qemu_plugin_insn_vaddr(insn: *const Insn) -> u64;
}
