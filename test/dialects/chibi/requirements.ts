import { rowsOf, section } from '../../requirements/requirement.ts';

export const declaring = section(
  'chibi.md §1',
  rowsOf`
    CH-1-01 | oneshot | An import of a \`plugins_dir\` declares every plugin in it, its tools and its hooks.
    CH-1-02 | oneshot | A hook with \`dialect: chibi\` is one plugin, whose --schema says at which points.
    CH-1-03 | oneshot | A tool with \`dialect: chibi\` is called as chibi calls it.
    CH-1-04 | none | \`hook\`, \`phases\` and \`mode\` beside \`dialect: chibi\` are a config error.
    CH-1-05 | none | \`on_failure\`, \`timeout_ms\` and \`env\` of an import are those of its plugins; an entry has \`cwd\` too.
  `,
  'chibi',
);

export const discovery = section(
  'chibi.md §2',
  rowsOf`
    CH-2-01 | none | \`plugins_dir\` is relative to the config file; a missing folder is a config error.
    CH-2-02 | oneshot | Plugins are in the order of their file names by bytes, then of their schema arrays.
    CH-2-03 | oneshot | A name that ends in \`.disabled\`, and a file without an exec bit, is skipped.
    CH-2-04 | oneshot | Of a folder <name>/<name> is run; a folder without it is skipped with a warning.
    CH-2-05 | oneshot | A link that leads out of the folder is refused with a warning.
    CH-2-06 | oneshot | --schema is the only argument, stdin at its end, neither CHIBI variable set.
    CH-2-07 | oneshot | --schema has 30 s; plugins are asked once, when the runtime opens.
    CH-2-08 | oneshot | A plugin whose --schema fails is skipped with the last line of its stderr.
    CH-2-09 | oneshot | A plugin that is declared by path and whose --schema fails is a config error.
    CH-2-10 | oneshot | A schema is one object or a list of objects, white space around it is fine.
    CH-2-11 | oneshot | An element without \`name\` or \`description\` is dropped with a warning, its siblings stay.
    CH-2-12 | oneshot | Missing or null \`parameters\` are any object.
    CH-2-13 | oneshot | \`parameters\` that cannot be compiled drop the element with a warning.
    CH-2-14 | oneshot | \`hooks\` that are no list, members that are no text and unknown names warn and vanish.
    CH-2-15 | oneshot | \`parallel\` is true by default, \`flow_control\` and \`ends_turn\` false.
    CH-2-16 | oneshot | A flow-control tool is not started; its result is chibi’s sentence.
    CH-2-17 | oneshot | A schema without a valid element fails the plugin; unknown keys are ignored.
    CH-2-18 | oneshot | A tool name twice is a config error that names both files.
    CH-2-19 | oneshot | \`parallel: false\` runs alone, after the parallel calls of the same response.
    CH-2-20 | oneshot | \`summary_params\` name the arguments that make up a summary.
    CH-2-30 | oneshot | The hooks of a plugin with an empty name count; it is no tool that could be called.
  `,
  'chibi',
);

export const toolCalls = section(
  'chibi.md §3',
  rowsOf`
    CH-3-01 | oneshot | stdin is the arguments as compact JSON with sorted keys, and nothing behind it.
    CH-3-02 | oneshot | CHIBI_TOOL_NAME is the called element, CHIBI_HOOK is not set.
    CH-3-03 | oneshot | The result is stdout verbatim, its final newline included.
    CH-3-04 | oneshot | A bad exit is \`Tool execution failed or was cancelled\`, with exit code and stderr in details.
    CH-3-05 | oneshot | stdout that is not UTF-8 is a failure.
    CH-3-06 | oneshot | A \`pending\` is text like any other.
    CH-3-07 | oneshot | The default limit of a call is 30 s.
    CH-3-08 | oneshot | A tool that does not read stdin is fine, and /dev/stdin can be opened.
    CH-3-09 | oneshot | A host may call with \`args\` alone, a list of texts, past the schema; a model may not.
    CH-3-10 | oneshot | chibi payloads carry \`Error: <message>\` of a failed call.
  `,
  'chibi',
);

export const hookCalls = section(
  'chibi.md §4',
  rowsOf`
    CH-4-01 | oneshot | CHIBI_HOOK is the point, CHIBI_TOOL_NAME is not set, stdin is the event alone.
    CH-4-02 | oneshot | A plugin is started once for each of its tools that registers a point.
    CH-4-03 | oneshot | Hooks run one after another, each with the same payload, also behind a refusal.
    CH-4-04 | oneshot | All hooks of a point are one link, whose decision names the plugin that decided.
    CH-4-05 | oneshot | A bad exit passes as chibi.exit_nonzero, whatever was printed.
    CH-4-06 | oneshot | Empty or blank output passes as chibi.empty.
    CH-4-07 | oneshot | Invalid UTF-8 is replaced before the one JSON document is read.
    CH-4-08 | oneshot | Anything but one JSON document passes as chibi.not_json.
    CH-4-09 | oneshot | \`{}\` is no opinion, and never closed.
    CH-4-10 | oneshot | JSON that is no object passes as chibi.no_object.
    CH-4-11 | oneshot | A member of the wrong type counts as absent, passes as chibi.wrong_type, and the others count.
    CH-4-12 | oneshot | A kept rule warns with its name and what the plugin wrote on stderr, and writes metadata.failed_open.
    CH-4-13 | oneshot | \`on_failure: deny\` closes all five rules at points that have result fields.
    CH-4-14 | oneshot | A documented refusal stands, whatever is wrong beside it.
  `,
  'chibi',
);

export const faults = section(
  'chibi.md §5',
  rowsOf`
    CH-5-01 | oneshot | A spawn failure or a timeout aborts the turn with chibi’s text, and no later hook runs.
    CH-5-02 | oneshot | At pre_spawn_agent it denies with that text.
    CH-5-03 | oneshot | At a point without result fields it is warned and swallowed.
    CH-5-04 | oneshot | What earlier hooks said is lost when a later one could not be run.
    CH-5-05 | oneshot | \`on_failure: deny\` changes nothing there.
    CH-5-06 | oneshot | The default limit of a hook is 30 s, from the pool slot on.
    CH-5-07 | oneshot | The process group is killed, and a grandchild that holds stdout delays nothing.
    CH-5-08 | oneshot | A limit runs during the stdin write, and a child may write much before it reads.
  `,
  'chibi',
);

export const permissions = section(
  'chibi.md §6',
  rowsOf`
    CH-6-01 | oneshot | Any \`denied: true\` denies with the first reason, or \`denied by plugin\`.
    CH-6-02 | oneshot | What no plugin denied is asked, never allowed.
    CH-6-03 | oneshot | Where nobody can be asked: no permission handler configured (fail-safe deny).
    CH-6-04 | oneshot | chibi payloads carry \`Permission denied: <reason>\`, of a shell the bare reason.
    CH-6-05 | oneshot | \`approved: false\` denies with its reason, \`approved: true\` is nothing.
    CH-6-06 | oneshot | fs_read: asked of a path outside the project root, after links are followed.
    CH-6-07 | oneshot | fs_write: always asked, with the absolute path, the content and the operation.
    CH-6-08 | oneshot | shell: always asked, with the command.
    CH-6-09 | oneshot | network without a url is asked with a summary and safety no_url.
    CH-6-10 | oneshot | network with a sensitive url is asked with the url and why it is sensitive.
    CH-6-11 | oneshot | Nobody is asked of vfs:// paths, calls without a path, and tools without a category.
    CH-6-12 | oneshot | A host name is judged as written, not resolved.
    CH-6-13 | oneshot | The point fires on the call as all before_execution filters left it.
    CH-6-14 | oneshot | A call that was refused there passes through 9, 10 and 8 like a result.
    CH-6-15 | oneshot | A permission question says what it is about.
  `,
  'chibi',
);

export const points = section(
  'chibi.md §7',
  rowsOf`
    CH-7-01 | oneshot | on_start: chibi_home, project_root, tool_count.
    CH-7-02 | oneshot | on_end: the same three, fired whenever on_start was.
    CH-7-03 | oneshot | pre_message: the last \`prompt\` replaces the newest message of a person, "" too.
    CH-7-04 | oneshot | post_message: the final prompt, original_prompt beside it, response, context_name.
    CH-7-05 | oneshot | pre_system_prompt: each \`inject\` goes in front of the last.
    CH-7-06 | oneshot | post_system_prompt: each \`inject\` is appended behind the last.
    CH-7-07 | oneshot | pre_tool: the first \`block\` denies, else the last \`arguments\` are taken whole.
    CH-7-08 | oneshot | post_tool: the model’s own arguments, and the result behind pre_tool_output.
    CH-7-09 | oneshot | pre_tool_output: the first \`block\` denies, else the last \`output\`; block beats output.
    CH-7-10 | oneshot | post_tool_output: arguments, output, final_output, cached.
    CH-7-11 | oneshot | pre_api_tools: includes intersect, then excludes go; both may stand in one answer.
    CH-7-12 | oneshot | pre_api_request: bodies merge key by key; a wrong shape denies.
    CH-7-13 | oneshot | pre_agentic_loop: hook by hook fallback, fuel, fuel_delta.
    CH-7-14 | oneshot | post_tool_batch: as pre_agentic_loop, never below 0, and no overflow.
    CH-7-15 | oneshot | pre_file_read: tool_name, path, and any deny wins.
    CH-7-16 | oneshot | pre_file_write: tool_name, path, content, null if none, operation.
    CH-7-17 | oneshot | pre_shell_exec: tool_name, command.
    CH-7-18 | oneshot | pre_fetch_url: tool_name, safety, url, reason, summary.
    CH-7-19 | oneshot | pre_spawn_agent: the first answer wins, \`response\` beats \`block\`.
    CH-7-20 | oneshot | post_spawn_agent is told.
    CH-7-21 | oneshot | pre_cache_output: any block is {cache: false}, else the last summary.
    CH-7-22 | oneshot | post_cache_output is told.
    CH-7-23 | oneshot | pre_send_message: the first \`delivered\` wins, \`via\` is the tool by default.
    CH-7-24 | oneshot | post_send_message is told.
    CH-7-25 | oneshot | post_index_file is told.
    CH-7-26 | oneshot | pre_vfs_write is told; a \`denied\` has no effect.
    CH-7-27 | oneshot | post_vfs_write is told.
    CH-7-28 | oneshot | pre_clear is told.
    CH-7-29 | oneshot | post_clear is told.
    CH-7-30 | oneshot | pre_compact is told.
    CH-7-31 | oneshot | post_compact is told.
    CH-7-32 | oneshot | pre_rolling_compact is told.
    CH-7-33 | oneshot | post_rolling_compact is told.
    CH-7-34 | oneshot | \`arguments\` that are no object, or do not fit the parameters, deny.
    CH-7-35 | oneshot | A fallback but \`call_agent\` is \`call_user\`; \`call_agent\` counts only with a round limit.
    CH-7-36 | oneshot | Without a round limit fuel is absent, and answers about it are ignored.
    CH-7-37 | oneshot | Points 11 to 13 fire once for each turn of a person.
    CH-7-38 | oneshot | A block at pre_tool stops a flow-control tool.
    CH-7-39 | none | \`fire\` takes all 33 points; what a host leaves out is filled in or named.
    CH-7-40 | oneshot | An ask comes back to a host as ask, a point without result fields answers allow at once.
    CH-7-41 | oneshot | tools[].type is the category, else plugin.
    CH-7-42 | oneshot | At pre_api_request an option of null is taken away.
  `,
  'chibi',
);

export const environment = section(
  'chibi.md §8',
  rowsOf`
    CH-8-01 | oneshot | CHIBI_PROJECT_ROOT, CHIBI_INDEX_DB and CHIBI_HOME are set in all three kinds of call.
    CH-8-02 | oneshot | CHIBI_VERBOSE is 1 when the log level is debug.
    CH-8-03 | oneshot | CHIBI_CONTEXT is set when the event has a context.
    CH-8-04 | oneshot | CHIBI_TOOL_ARGS and CHIBI_HOOK_DATA are never set, nor the CHIBI variable of the other call.
    CH-8-05 | oneshot | Everything else is the closed environment.
    CH-8-06 | oneshot | The working directory is the entry’s \`cwd\`.
  `,
  'chibi',
);

export const order = section(
  'chibi.md §9',
  rowsOf`
    CH-9-01 | oneshot | The points of a turn fire in chibi’s order.
    CH-9-02 | oneshot | pre_message sees the prompts with which \`call_agent\` goes on.
    CH-9-03 | oneshot | Results are given out in the order of the calls, whatever order they ran in.
    CH-9-04 | oneshot | post_tool is not fired for flow-control tools, post_message not after call_user.
    CH-9-05 | oneshot | on_start and on_end fire once for each session.
  `,
  'chibi',
);
