"""The records of DUMPI: which function has which number, and which fields its record has.

A record has no length, so that a reader must know all of them. The fields of a record are letters:

    b, t, c, h, i, q   a number of 1, 2, 2, 2, 4, 8 bytes: t is a datatype, c a communicator, h another handle
    a, d, e            a count, and so many numbers of 4, 2, 1 bytes
    r                  a count, and so many arrays a
    s                  a count, and so many statuses; not there if the record says that it has none
    z, Z, Y            a text behind its length; a count, and so many texts; a count, and so many arrays Z

What stands between the first | and the next is there only on the root of the call (ROOTED). A function with - has no
record. The numbers of functions are their places in the list, from 0.
"""

from __future__ import annotations

ROOTED = {
    "Gather": (0, 3),
    "Gatherv": (0, 4),
    "Scatter": (0, 3),
    "Scatterv": (0, 5),
    "Comm_spawn": (0, 1),
    "Comm_spawn_multiple": (1, 2),
}
"""Which fields of a record have the rank of the caller, and that of the root."""

_LAYOUTS = """
Send:itiic Recv:itiics Get_count:sti Bsend:itiic Ssend:itiic Rsend:itiic Buffer_attach:i Buffer_detach:i Isend:itiici
Ibsend:itiici Issend:itiici Irsend:itiici Irecv:itiici Wait:is Test:iis Request_free:i Waitany:iais Testany:iaiis
Waitall:ias Testall:iais Waitsome:iaias Testsome:iaias Iprobe:iicis Probe:iics Cancel:i Test_cancelled:si
Send_init:itiici Bsend_init:itiici Ssend_init:itiici Rsend_init:itiici Recv_init:itiici Start:i Startall:ia
Sendrecv:itiiitiics Sendrecv_replace:itiiiics Type_contiguous:itt Type_vector:iiitt Type_hvector:iiitt
Type_indexed:iaatt Type_hindexed:iaatt Type_struct:iaadt Address:i Type_extent:ti Type_size:ti Type_lb:ti Type_ub:ti
Type_commit:t Type_free:t Get_elements:sti Pack:itiiic Unpack:iiiitc Pack_size:itci Barrier:c Bcast:itic
Gather:iitic|it Gatherv:iiitic|aa|t Scatter:iitic|it Scatterv:iititic|aa Allgather:ititc Allgatherv:iitaatc
Alltoall:ititc Alltoallv:iaataatc Reduce:itbic Op_create:ib Op_free:b Allreduce:itbc Reduce_scatter:iatbc Scan:itbc
Group_size:hi Group_rank:hi Group_translate_ranks:hiaha Group_compare:hhb Comm_group:ch Group_union:hhh
Group_intersection:hhh Group_difference:hhh Group_incl:hiah Group_excl:hiah Group_range_incl:hirh Group_range_excl:hirh
Group_free:h Comm_size:ci Comm_rank:ci Comm_compare:ccb Comm_dup:cc Comm_create:chc Comm_split:ciic Comm_free:c
Comm_test_inter:ci Comm_remote_size:ci Comm_remote_group:ch Intercomm_create:ciciic Intercomm_merge:cic Keyval_create:h
Keyval_free:h Attr_put:ci Attr_get:cii Attr_delete:ci Topo_test:cb Cart_create:ciaaic Dims_create:iiaa
Graph_create:iciaaic Graphdims_get:cii Graph_get:iiciiaa Cartdim_get:ci Cart_get:iciaaa Cart_rank:icai
Cart_coords:iciia Graph_neighbors_count:cii Graph_neighbors:iciia Cart_shift:ciiii Cart_sub:icac Cart_map:ciaai
Graph_map:iciaai Get_processor_name:zi Get_version:ii Errhandler_create:h Errhandler_set:ch Errhandler_get:ch
Errhandler_free:h Error_string:izi Error_class:ii Wtime: Wtick: Init:Z Finalize: Initialized:i Abort:ci Pcontrol:-
Close_port:z Comm_accept:zhicc Comm_connect:zhicc Comm_disconnect:c Comm_get_parent:c Comm_join:ic
Comm_spawn:iicc|zZiha Comm_spawn_multiple:iiicc|iZYada Lookup_name:zhz Open_port:hz Publish_name:zhz Unpublish_name:zhz
Accumulate:itiiitbh Get:itiiith Put:itiiith Win_complete:h Win_create:iihch Win_fence:bh Win_free:h Win_get_group:hh
Win_lock:bibh Win_post:hbh Win_start:hbh Win_test:hi Win_unlock:ih Win_wait:h Alltoallw:iaadaadc Exscan:itbc
Add_error_class:i Add_error_code:ii Add_error_string:iz Comm_call_errhandler:ci Comm_create_keyval:h
Comm_delete_attr:ch Comm_free_keyval:h Comm_get_attr:chi Comm_get_name:czi Comm_set_attr:ch Comm_set_name:cz
File_call_errhandler:hi Grequest_complete:i Grequest_start:i Init_thread:Zbb Is_thread_main:i Query_thread:b
Status_set_cancelled:si Status_set_elements:sti Type_create_keyval:h Type_delete_attr:th Type_dup:tt Type_free_keyval:h
Type_get_attr:thi Type_get_contents:iiitiiiaad Type_get_envelope:tiiib Type_get_name:tzi Type_set_attr:th
Type_set_name:tz Type_match_size:bit Win_call_errhandler:hi Win_create_keyval:h Win_delete_attr:hh Win_free_keyval:h
Win_get_attr:hhi Win_get_name:hzi Win_set_attr:hh Win_set_name:hz Alloc_mem:ih Comm_create_errhandler:h
Comm_get_errhandler:ch Comm_set_errhandler:ch File_create_errhandler:h File_get_errhandler:hh File_set_errhandler:hh
Finalized:i Free_mem: Get_address:i Info_create:h Info_delete:hz Info_dup:hh Info_free:h Info_get:hzizi
Info_get_nkeys:hi Info_get_nthkey:hiz Info_get_valuelen:hzii Info_set:hzz Pack_external:zitiii Pack_external_size:ziti
Request_get_status:iis Type_create_darray:iiiaeaabtt Type_create_hindexed:iaatt Type_create_hvector:iiitt
Type_create_indexed_block:iiatt Type_create_resized:tiit Type_create_struct:iaadt Type_create_subarray:iaaabtt
Type_get_extent:tii Type_get_true_extent:tii Unpack_external:ziiiit Win_create_errhandler:h Win_get_errhandler:hh
Win_set_errhandler:hh File_open:czbhh File_close:h File_delete:zh File_set_size:hq File_preallocate:hq File_get_size:hq
File_get_group:hh File_get_amode:hb File_set_info:hh File_get_info:hh File_set_view:hqttzh File_get_view:hqttz
File_read_at:hqits File_read_at_all:hqits File_write_at:hqits File_write_at_all:hqits File_iread_at:hqiti
File_iwrite_at:hqiti File_read:hits File_read_all:hits File_write:hits File_write_all:hits File_iread:hiti
File_iwrite:hiti File_seek:hqb File_get_position:hq File_get_byte_offset:hqq File_read_shared:hits
File_write_shared:hits File_iread_shared:hiti File_iwrite_shared:hiti File_read_ordered:hits File_write_ordered:hits
File_seek_shared:hqb File_get_position_shared:hq File_read_at_all_begin:hqit File_read_at_all_end:hs
File_write_at_all_begin:hqit File_write_at_all_end:hs File_read_all_begin:hit File_read_all_end:hs
File_write_all_begin:hit File_write_all_end:hs File_read_ordered_begin:hit File_read_ordered_end:hs
File_write_ordered_begin:hit File_write_ordered_end:hs File_get_type_extent:hti Register_datarep:z
File_set_atomicity:hi File_get_atomicity:hi File_sync:h IO_Test:iis IO_Wait:is IO_Testall:iais IO_Waitall:ias
IO_Testany:iaiis IO_Waitany:iais IO_Waitsome:iaias IO_Testsome:iaias ALL_FUNCTIONS:- Function_enter:q Function_exit:q
"""

FUNCTIONS: tuple[tuple[str, str], ...] = tuple(
    (name, layout) for name, _, layout in (entry.partition(":") for entry in _LAYOUTS.split())
)
"""Names and layouts of functions, by number. IO_ stands before the names of the calls that wait for files."""
END_OF_STREAM = len(FUNCTIONS)
"""Stands where the number of a function would, behind the last record."""
