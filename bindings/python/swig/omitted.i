/* What Python needs no wrapper of, because native/ calls it, or because the types above do. */
%rename("$ignore", regextarget=1) "^shw_status_(code|message|node_index|node_name|num_conflicts|conflict|source_file|source_line|destroy)$";
%rename("$ignore", regextarget=1) "^shw_blob_";
%rename("$ignore", regextarget=1) "^shw_event_";
%rename("$ignore", regextarget=1) "^shw_(runner|pending|named_tensor)"; /* native/runner.c lends memory in place */
%rename("$ignore", regextarget=1) "^shw_(run|region_call)(_init)?$";
%ignore shw_executor_enqueue;
%ignore shw_executor_abort;
%ignore shw_executor_reset;
%ignore shw_buffer_import;
%ignore shw_buffer_get_tensor;
%ignore shw_buffer_read;
%ignore shw_buffer_write;
%ignore shw_world_id;
%ignore shw_world_make_id;
%ignore shw_world_create_from_id;
%ignore shw_executor_options::native_stream;
%ignore shw_context_options;
%ignore shw_context_options_init;
%ignore shw_attr;
%ignore shw_tensor;
%ignore shw_plan_gather;
%ignore shw_session_create;
%ignore shw_buffer_create;
%warnfilter(314); /* a member 'from' is '_from' in Python */
