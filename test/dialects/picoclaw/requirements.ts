import { rowsOf, section } from '../../requirements/requirement.ts';

export const versions = section(
  'picoclaw.md §1',
  rowsOf`
    PC-1-01 | none | The version is \`0.2.8-doc\` unless the entry says \`head\`.
    PC-1-02 | none | By the page, params have every key that it shows, empty or not, and \`context\`.
    PC-1-03 | none | At head, params lack \`channel\` and \`chat_id\`, and what is empty.
    PC-1-04 | none | By the page, changes of tools and system messages at before_llm are applied.
    PC-1-05 | none | At head, changes of tools and system messages at before_llm are undone, with a warning.
    PC-1-06 | none | By the page, a member that a modified object leaves out keeps its value.
    PC-1-07 | none | At head, a member that a modified object leaves out becomes empty.
    PC-1-08 | none | By the page, a plainly flat object at after_llm and after_tool is read; any other denies.
    PC-1-09 | none | At head, a flat object at after_llm and after_tool is a failure of the hook.
    PC-1-10 | none | By the page, an event is \`hook.event\` in CamelCase with the number in \`Kind\` and \`KindName\` beside it.
    PC-1-11 | none | \`event_kind: name\` puts the legacy name into \`Kind\`.
    PC-1-12 | none | At head, an event is \`hook.runtime_event\`.
    PC-1-13 | none | \`observe\` takes legacy and dotted names in both versions.
  `,
  'picoclaw',
);

export const declarations = section(
  'picoclaw.md §2',
  rowsOf`
    PC-2-01 | none | The dialect implies a server; \`runtime: exec\` is a config error.
    PC-2-02 | none | \`hook\` with \`phases\` is short for the two methods of a pair; both forms together are a config error.
    PC-2-03 | none | An unknown name in either list, or neither list, is a config error that names the value.
    PC-2-04 | none | The modes of the hello are observe, llm, tool, approve, in that order, as the lists have them.
    PC-2-05 | none | One method of a pair turns both on.
    PC-2-06 | none | An error reply or a timeout of the half that was not named lets pass, whatever \`on_failure\` says.
    PC-2-07 | server | A half that is not implemented is not asked again until the process restarts.
    PC-2-08 | none | The entry’s \`timeout_ms\` replaces the interceptor’s limit.
  `,
  'picoclaw',
);

export const imports = section(
  'picoclaw.md §2',
  rowsOf`
    PC-2-20 | none | \`hooks import\` prints one entry for each enabled process of a config.json.
    PC-2-21 | none | An entry of \`spec.imports\` stands for all enabled processes of its file.
    PC-2-22 | none | What cannot be taken over is an error that names its place.
    PC-2-23 | none | \`hooks.enabled: false\` imports nothing; absent is true.
    PC-2-24 | none | The file’s default limits become the entries’; one that is not positive is warned of.
    PC-2-25 | none | An enabled builtin is a config error.
    PC-2-26 | none | Only processes with \`enabled: true\` are imported, by priority and then by name.
    PC-2-27 | none | A transport other than stdio and an empty command are errors.
    PC-2-28 | none | \`dir\` is relative to the folder of config.json, which it also defaults to.
    PC-2-29 | none | \`env\` becomes literals of the closed environment, and the import says what must be named.
    PC-2-30 | none | A process with the name of another hook is an error.
    PC-2-31 | none | \`isolation.enabled: true\` is an error.
    PC-2-32 | none | With on_failure: deny \`hooks.enabled: false\` is a config error.
    PC-2-33 | none | An empty string in \`intercept\` is skipped.
  `,
  'picoclaw',
);

export const lives = section(
  'picoclaw.md §3',
  rowsOf`
    PC-3-01 | server | The first message of every life is hook.hello with name, version 1 and modes.
    PC-3-03 | none | The hello has a limit of its own.
    PC-3-04 | none | A hello answered with an object without \`ok\`, with null or with nothing is accepted.
    PC-3-05 | none | A hello whose \`ok\` is anything but true is refused, unless the entry is lenient.
    PC-3-06 | none | A hello answered with an array, a scalar or an error is refused, lenient or not.
    PC-3-07 | none | \`name\` and \`version\` of the hello’s reply are logged.
    PC-3-08 | none | A start, a hello or a restart that fails denies the call, whatever \`on_failure\` says.
    PC-3-09 | server | A process that refuses the hello is killed, and tried again by the back-off.
    PC-3-10 | server | A process that died is started again with ids from 1 and a new hello.
    PC-3-13 | server | The process runs in \`picoclaw.dir\`, else in the folder of the config, in a closed environment.
    PC-3-14 | server | An observer whose process cannot be started is logged, and the event dropped.
  `,
  'picoclaw',
);

export const frames = section(
  'picoclaw.md §4',
  rowsOf`
    PC-4-02 | server | A line whose id is null or missing is ignored.
    PC-4-03 | server | An id that spells one in flight as a string fails that call at once.
    PC-4-04 | none | \`action\` or \`approved\` twice, or beside a key in other letters, denies.
    PC-4-05 | none | An error wins over a result, and of any type is a failure.
    PC-4-07 | server | Notifications and requests are written in the order in which things happened.
    PC-4-08 | none | Arguments and every other object pass with their bytes, beyond 2^53 too.
  `,
  'picoclaw',
);

export const failures = section(
  'picoclaw.md §5',
  rowsOf`
    PC-5-01 | none | Each kind of method has its own limit.
    PC-5-03 | server | Cancelling a turn ends the wait at once, as cancelled.
    PC-5-04 | none | A timeout of an interceptor lets pass by picoclaw.timeout.
    PC-5-05 | none | An error reply of an interceptor lets pass by picoclaw.rpc_error.
    PC-5-06 | none | The death of an interceptor lets pass by picoclaw.dead.
    PC-5-07 | none | A result of the wrong type lets pass by picoclaw.bad_result.
    PC-5-08 | none | An unknown action, or one that the stage lacks, lets pass by picoclaw.unknown_action.
    PC-5-09 | none | A result that is null, missing or without an action lets pass by picoclaw.no_action.
    PC-5-10 | none | \`on_failure: deny\` denies each of these.
    PC-5-12 | none | \`respond\` without a result denies.
    PC-5-13 | none | An approver approves with \`approved: true\` only; all else denies, naming hook and cause.
    PC-5-14 | server | An observer that fails or is slow is warned of; the newest event is dropped, and what is dropped is counted.
    PC-5-15 | none | What PicoClaw has no rule for denies.
  `,
  'picoclaw',
);

export const effects = section(
  'picoclaw.md §6',
  rowsOf`
    PC-6-01 | none | Each of the five methods is reached by its moment of a call.
    PC-6-02 | none | Each hook sees what the last one returned, and \`meta\`, \`context\`, \`duration\` as they are.
    PC-6-03 | none | \`continue\` and \`modify\` apply the stage’s object where it is there, else let pass.
    PC-6-04 | none | \`deny_tool\` denies at before_tool with its reason.
    PC-6-05 | none | \`abort_turn\` ends the turn at all four stages.
    PC-6-06 | none | \`hard_abort\` ends the session at all four stages.
    PC-6-07 | none | \`respond\` answers in the tool’s place, from \`result\` or else \`call.hook_result\`.
    PC-6-08 | none | Without a reason the message is taken, then a stock text; both are kept in the metadata.
    PC-6-09 | none | Leading system messages become the system prompt.
    PC-6-10 | none | A model, options and added tools of a request are taken over; unknown options are warned of.
    PC-6-11 | none | At head, a request that leaves no messages or no model denies.
    PC-6-12 | none | A response replaces the whole message; tool calls that it does not repeat are gone.
    PC-6-13 | none | A call’s arguments and changed name are taken over; at head a missing name is empty and fails.
    PC-6-14 | none | The text of a result is taken over, nested or by the page flat.
    PC-6-15 | none | An object that fits no form is a failure; by the page at after_llm and after_tool it denies.
    PC-6-16 | none | Images and files are put back where index, role and text are unchanged, else dropped and told.
    PC-6-17 | none | \`for_llm\` of a respond must be a string; \`is_error\` makes it a failed call.
    PC-6-18 | none | The other members of a respond go to the metadata, and \`response_handled\` hands on \`for_user\`.
  `,
  'picoclaw',
);

export const placements = section(
  'picoclaw.md §6',
  rowsOf`
    PC-6-30 | server | after_tool is asked of failed tools too, but not of a call that a PicoClaw hook answered.
    PC-6-31 | server | before_tool is asked for names that no tool has.
    PC-6-32 | server | Approvers are asked after all filters of every dialect; the first denial ends it.
    PC-6-33 | server | An abort leaves no provider call, tool or later hook of the turn, and every call a definite text.
    PC-6-34 | server | A hard abort lets no later turn of the session start.
    PC-6-35 | server | When all calls of a round were handled, the model is not called again and the output is their texts.
    PC-6-36 | server | A renamed call passes the whole chain once more, and a second rename denies.
    PC-6-37 | server | Changed arguments are checked against input_schema again.
    PC-6-38 | server | A call of a tool that was only offered, that nobody implements or answers, fails.
    PC-6-39 | server | A model that is a provider’s id or model selects it; any other goes to the current one.
    PC-6-40 | server | A stream is held back until the verdict of after_llm.
    PC-6-41 | server | before_llm is asked once for each round; a retry sends what was filtered.
    PC-6-42 | server | An answered call still has its start and end events, with duration 0.
    PC-6-43 | none | An inner result or response without a text is the empty text.
    PC-6-44 | none | \`arguments: null\` clears the arguments.
    PC-6-45 | none | What a hook made of an event is read in any letter case, the last of several.
    PC-6-46 | server | \`is_error\` of a respond reaches the call, and whoever fires before_tool.
  `,
  'picoclaw',
);

export const params = section(
  'picoclaw.md §7',
  rowsOf`
    PC-7-01 | none | The params of before_llm.
    PC-7-02 | none | The params of after_llm.
    PC-7-03 | none | The params of before_tool and approve_tool.
    PC-7-04 | none | The params of after_tool, with the duration in integer nanoseconds.
    PC-7-05 | none | META has all seven keys, with the trace path of its method.
    PC-7-06 | none | CTX has \`inbound\` only, from the host’s words, else cli, the session and nobody.
    PC-7-07 | none | The system prompt is the first message, role system; content is always a string.
    PC-7-08 | none | A TOOLCALL is always complete, its arguments the raw text.
    PC-7-09 | none | A TOOLDEF has name, description and parameters; options those that are set.
    PC-7-10 | none | LLMRESPONSE has a role by the page only.
    PC-7-11 | none | TOOLRESULT has the model’s text, whether it failed, and its other members empty; head leaves those out.
    PC-7-12 | none | A host’s payload is completed; a wrong or missing member is named.
  `,
  'picoclaw',
);

export const events = section(
  'picoclaw.md §8',
  rowsOf`
    PC-8-01 | none | The legacy form of an event.
    PC-8-02 | none | The newer form of an event.
    PC-8-03 | none | \`scope\` and \`correlation\` are always there.
    PC-8-04 | none | The severity follows kind and payload.
    PC-8-05 | none | Each moment that is told has its kind and payload.
    PC-8-06 | none | turn_end has more members at head.
    PC-8-07 | none | Other dotted kinds are accepted in \`observe\`, and never sent to a hook by the page.
    PC-8-08 | none | \`observe\` takes exact names, or \`*\`, \`all\`, \`\` for every kind.
    PC-8-09 | server | turn_end of a paused run comes when it ends; denied and failed are \`error\`.
    PC-8-11 | server | A retried model call is told as llm_retry.
  `,
  'picoclaw',
);

export const warnings = section(
  'picoclaw.md §9',
  rowsOf`
    PC-9-01 | none | \`validate\` warns of every entry that intercepts without \`on_failure: deny\`.
    PC-9-02 | server | after_execution filters of other dialects see the answer of a respond.
  `,
  'picoclaw',
);

export const traps = section(
  'picoclaw.md §10',
  rowsOf`
    PC-10-01 | none | Permission counts in the documented spelling only.
    PC-10-04 | server | A denial counts in a reply that cannot be used: beside an error, in a batch, under an id that is a text or in other letters.
    PC-10-02 | none | \`allow: false\`, \`approved: false\`, a \`verdict\` or \`decision\` of deny, or a denying \`decision.action\` denies.
    PC-10-03 | none | Anything else of that shape follows the rules of failure, and the warning names the trap and the right key.
  `,
  'picoclaw',
);
