import { rowsOf, section } from '../../requirements/requirement.ts';

export const modes = section(
  'promptkit.md §1',
  rowsOf`
    PK-1-01 | oneshot | An entry without \`dialect\` is sent snake_case keys, in a v1alpha1 file too.
    PK-1-02 | none | validate notes each provider, tool and session hook of a v1alpha1 file that names no dialect.
    PK-1-03 | none | That note is absent in signalbox/v1, for eval hooks, and where a dialect is named.
    PK-1-04 | oneshot | Without \`runtime\` every call is one process with one request.
    PK-1-05 | server | With \`runtime: server\` one process answers many calls.
  `,
);

/** Common to both wires, whose payload keys differ. */
export const sharedWires = section(
  'promptkit.md §1',
  [['PK-1-06', 'both', 'Tool requests, replies and the server wire are the same as in promptkit.']],
  'promptkit-go',
);

export const replies = section(
  'promptkit.md §3',
  rowsOf`
    PK-3-01 | oneshot | A byte order mark before the object is dropped.
    PK-3-02 | oneshot | White space around the object is dropped.
    PK-3-03 | oneshot | Bytes that are not UTF-8 are refused, naming the byte offset.
    PK-3-04 | oneshot | Empty output and bare white space are refused; the hint says exit 0 and nothing printed.
    PK-3-05 | oneshot | Text before or after the object is refused.
    PK-3-06 | oneshot | Two objects, on one line or several, are refused.
    PK-3-07 | oneshot | If exactly one line of refused output is an object, the hint says to log to stderr.
    PK-3-08 | both | null, an array, a string, a number or a boolean in place of the object is refused.
    PK-3-09 | both | Keys are case-sensitive: Result, ERROR, Score and Allow decide nothing.
    PK-3-10 | both | Unknown keys beside a deciding one are ignored.
    PK-3-11 | oneshot | Unknown keys are logged at debug, near misses of a known key at warn.
    PK-3-12 | both | A data key that stands twice has its last value.
    PK-3-13 | both | \`allow\` twice denies, whatever the values.
    PK-3-14 | both | \`allow\` beside the same key in another letter case denies, whatever the values.
    PK-3-15 | both | A refused reply is a failed tool with REPLY_MALFORMED.
    PK-3-16 | both | A refused reply is an unscored eval with REPLY_MALFORMED.
    PK-3-18 | both | A tool’s result keeps its text: big integers, 1.0, escapes, key order.
    PK-3-19 | both | An eval’s \`data\` keeps its text.
    PK-3-20 | both | A hook’s \`metadata\` keeps its text.
    PK-3-21 | both | A hook’s \`replace\` keeps its text, also as the args of the next process.
    PK-3-22 | both | Members of a pending reply keep their text.
    PK-3-23 | server | \`data\` of a JSON-RPC error keeps its text.
    PK-3-24 | none | --json prints a big integer of a result digit by digit.
  `,
);

export const toolRequests = section(
  'promptkit.md §4.1',
  rowsOf`
    PK-4-01 | both | The request is {"args": {…}} and nothing else.
    PK-4-02 | both | After an approval, \`approval\` {id, decision, by, reason} stands beside \`args\`.
    PK-4-03 | oneshot | Absent, empty, blank and null arguments are {}.
    PK-4-04 | oneshot | Invalid or truncated JSON arguments are ARGS_INVALID, and no process starts.
    PK-4-05 | oneshot | Array, string, number and boolean arguments are ARGS_INVALID, and no process starts.
    PK-4-06 | oneshot | A key that stands twice, at any depth, is ARGS_INVALID, and no process starts.
    PK-4-07 | oneshot | Arguments that miss input_schema are ARGS_INVALID with every violation; no process starts.
    PK-4-08 | both | Valid arguments are sent as the text they came in, big integers included.
  `,
);

export const toolReplies = section(
  'promptkit.md §4.2',
  rowsOf`
    PK-4-09 | oneshot | A non-empty string \`error\` is TOOL_ERROR with that text, beside any result or pending.
    PK-4-10 | oneshot | \`error\` that is "" or null counts as absent.
    PK-4-11 | oneshot | \`pending\` that is null counts as absent.
    PK-4-12 | oneshot | \`error\` that is an object, array, number or boolean is REPLY_MALFORMED; details keep its text.
    PK-4-13 | oneshot | \`pending\` together with \`result\`, null included, is REPLY_MALFORMED.
    PK-4-14 | oneshot | \`pending\` that is not an object is REPLY_MALFORMED.
    PK-4-15 | both | A pending \`reason\` or \`message\` that is not a string is REPLY_MALFORMED.
    PK-4-16 | both | A pending object, an empty one too, is pending.
    PK-4-17 | both | Further members of a pending object are kept with it.
    PK-4-18 | both | A present result is ok, null, false, 0 and "" included.
    PK-4-19 | oneshot | A reply with none of the three keys is REPLY_MALFORMED; the hint shows {"result": …}.
    PK-4-20 | both | A result that misses output_schema is RESULT_INVALID.
    PK-4-21 | both | The model reads a string result as it is and any other as its raw text.
    PK-4-22 | both | The model reads a failure as \`Tool "x" failed: message\`.
  `,
);

export const hookPayloads = section(
  'promptkit.md §6.1',
  rowsOf`
    PK-6-01 | both | before_call: hook, phase and request {provider_id model messages system_prompt round metadata}.
    PK-6-02 | both | after_call: the request again and response {provider_id model message round latency_ms}.
    PK-6-03 | both | before_execution: request {name args call_id}.
    PK-6-04 | both | after_execution: the request again and response {name call_id content error latency_ms}.
    PK-6-05 | both | Sessions: event {session_id conversation_id messages turn_index metadata}, in each phase.
    PK-6-06 | both | Every member is there, empty rather than absent.
    PK-6-07 | both | A message always has \`content\` with its whole text; its other members travel untouched.
    PK-6-08 | both | An eval hook reads the bare result in snake_case, without hook, phase or envelope.
    PK-6-09 | both | An unscored eval has no \`score\` there, and its reason in \`error\`.
  `,
);

export const twofoldText = section(
  'promptkit.md §6.1',
  rowsOf`
    PK-6-10 | oneshot | Text in both \`content\` and \`parts\` that comes back changed in one of them has the changed copy.
    PK-6-11 | oneshot | Text that comes back changed differently in \`content\` and \`parts\` denies.
  `,
);

/** Hook payloads of the wire that spells its keys as Go does. */
export const goPayloads = section(
  'promptkit.md §6.2',
  rowsOf`
    PK-6-12 | both | Provider request: ProviderID Model Messages SystemPrompt Round Metadata Replacement.
    PK-6-13 | both | Provider response: ProviderID Model Message Round LatencyMs.
    PK-6-14 | both | Tool request: Name Args CallID.
    PK-6-15 | both | Tool response: Name CallID Content Error LatencyMs.
    PK-6-16 | both | Session event: SessionID ConversationID Messages TurnIndex Metadata.
    PK-6-17 | both | An empty Metadata is null, and Replacement is always "".
    PK-6-18 | both | Tool calls of an eval’s context: Name Args Result Error Index.
    PK-6-19 | both | Envelope, messages, the eval request’s other keys and the eval hook’s payload stay snake_case.
    PK-6-20 | both | Replies and \`replace\` are snake_case; a PascalCase replacement denies.
  `,
  'promptkit-go',
);

export const filterReplies = section(
  'promptkit.md §6.3',
  rowsOf`
    PK-6-21 | both | \`allow\` that is true once, without \`replace\`, allows; reason and metadata travel with it.
    PK-6-22 | both | \`allow: true\` with a \`replace\` of the phase’s shape modifies.
    PK-6-23 | both | \`allow: true\` with any other \`replace\`, null and {} included, denies.
    PK-6-24 | both | \`allow: true\` with \`enforced: true\` denies.
    PK-6-25 | both | \`allow: true\` with a wrong-typed reason, enforced or metadata denies; null counts as absent.
    PK-6-26 | both | \`allow: false\` denies with its reason and metadata.
    PK-6-27 | both | \`allow: false\` without a reason has \`hook "h" denied\`.
    PK-6-28 | both | \`allow: false\` drops a wrong-typed companion and ignores \`replace\`, each with a warning.
    PK-6-29 | both | \`allow: false\` with \`enforced: true\` is an enforced denial.
    PK-6-30 | both | \`allow\` missing, null, "true" or 1, {} and {"ack": true} deny: \`hook "h" gave no verdict: …\`.
    PK-6-31 | both | A reply that the reader refuses denies with REPLY_MALFORMED: \`hook "h" gave no verdict: …\`.
  `,
);

export const replacements = section(
  'promptkit.md §6.3',
  rowsOf`
    PK-6-40 | both | before_call takes \`messages\`, \`system_prompt\` or both; each replaces the whole member.
    PK-6-41 | both | after_call takes \`message\` with role assistant, which replaces the whole message.
    PK-6-42 | both | before_execution takes \`args\`, an object, which is what the tool reads.
    PK-6-43 | both | Replaced args that miss input_schema deny, naming the hook, and the tool does not run.
    PK-6-44 | both | after_execution takes \`content\`, a string, which is what the model reads.
    PK-6-45 | both | For the caller that content is the result: parsed if the old one was no string and it is JSON.
    PK-6-46 | oneshot | A failed outcome stays failed when its content is replaced.
    PK-6-47 | both | A key that the phase does not have, such as \`mesages\`, denies.
    PK-6-48 | both | Enforced at before_call or after_call gives metadata.replacement if it is a string.
    PK-6-49 | both | Enforced without such text gives the stock sentence, and never the original.
    PK-6-50 | both | Enforced at a tool phase is a plain denial.
  `,
);

export const evals = section(
  'promptkit.md §7',
  rowsOf`
    PK-7-01 | both | The request always has type, params, content and context {messages turn_index tool_calls variables metadata}, empty when empty.
    PK-7-03 | both | \`session_id\` and \`prompt_id\` are there when known only.
    PK-7-04 | both | Tool calls of the context: name args result error index.
    PK-7-05 | both | A score from 0 to 1, both included, is scored.
    PK-7-06 | both | A score missing, null, string, boolean, below 0, above 1 or 1e400 is unscored.
    PK-7-07 | both | \`detail\` and \`data\` are carried along; null counts as absent.
    PK-7-08 | both | \`detail\` or \`data\` of another type is unscored.
    PK-7-09 | both | A non-empty string \`error\` is unscored with that reason, even beside a score.
  `,
);

export const evalBatches = section(
  'promptkit.md §7.1',
  rowsOf`
    PK-7-30 | both | With \`batch: N\` a request of a suite carries up to N cases, each with its index.
    PK-7-31 | both | Each result is that of the case in its place; a bad one leaves its own case unscored.
    PK-7-32 | both | More or fewer results than cases leave all cases unscored.
    PK-7-33 | both | An index that is not that of its place leaves unscored what does not name its own.
    PK-7-34 | both | A single score in reply to a batch is refused, with a hint to remove \`batch\`.
    PK-7-35 | both | A crash or a timeout leaves every case of the request unscored.
    PK-7-36 | both | An \`error\` beside or in place of \`results\` leaves all cases unscored for that reason.
    PK-7-37 | both | A direct call of an eval with \`batch\` has the form of a single case.
  `,
);

/** The meaning of a pending reply. test/calls/tool-call covers how it is kept and decided. */
export const pendings = section(
  'promptkit.md §8',
  rowsOf`
    PK-8-01 | both | A pending without \`reason\` has "", without \`message\` \`Tool "x" asks for a decision.\`
    PK-8-02 | both | Evals and hooks know no \`pending\`: alone it leaves an eval unscored and makes a hook deny.
  `,
);
