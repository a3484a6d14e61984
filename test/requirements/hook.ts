import { section } from './requirement.ts';

/** What a hook reads on the native wire. */
export const hookPayloads = section('promptkit.md §6.1', [
  [
    'PK-6-01',
    'both',
    'before_call: hook, phase and request {provider_id model messages system_prompt round metadata}.',
  ],
  [
    'PK-6-02',
    'both',
    'after_call: the request again and response {provider_id model message round latency_ms}.',
  ],
  ['PK-6-03', 'both', 'before_execution: request {name args call_id}.'],
  [
    'PK-6-04',
    'both',
    'after_execution: the request again and response {name call_id content error latency_ms}.',
  ],
  [
    'PK-6-05',
    'both',
    'Sessions: event {session_id conversation_id messages turn_index metadata}, in each phase.',
  ],
  ['PK-6-06', 'both', 'Every member is there, empty rather than absent.'],
  [
    'PK-6-07',
    'both',
    'A message always has `content` with its whole text; its other members travel untouched.',
  ],
  ['PK-6-08', 'both', 'An eval hook reads the bare result in snake_case, without hook, phase or envelope.'],
  ['PK-6-09', 'both', 'An unscored eval has no `score` there, and its reason in `error`.'],
]);

/** Text that a message carries twice. */
export const twofoldText = section('promptkit.md §6.1', [
  [
    'PK-6-10',
    'oneshot',
    'Text in both `content` and `parts` that comes back changed in one of them has the changed copy.',
  ],
  ['PK-6-11', 'oneshot', 'Text that comes back changed differently in `content` and `parts` denies.'],
]);

/** What a hook reads on the wire that spells its keys as Go does. */
export const goPayloads = section(
  'promptkit.md §6.2',
  [
    [
      'PK-6-12',
      'both',
      'Provider request: ProviderID Model Messages SystemPrompt Round Metadata Replacement.',
    ],
    ['PK-6-13', 'both', 'Provider response: ProviderID Model Message Round LatencyMs.'],
    ['PK-6-14', 'both', 'Tool request: Name Args CallID.'],
    ['PK-6-15', 'both', 'Tool response: Name CallID Content Error LatencyMs.'],
    ['PK-6-16', 'both', 'Session event: SessionID ConversationID Messages TurnIndex Metadata.'],
    ['PK-6-17', 'both', 'An empty Metadata is null, and Replacement is always "".'],
    ['PK-6-18', 'both', 'Tool calls of an eval’s context: Name Args Result Error Index.'],
    [
      'PK-6-19',
      'both',
      'Envelope, messages, the eval request’s other keys and the eval hook’s payload stay snake_case.',
    ],
    ['PK-6-20', 'both', 'Replies and `replace` are snake_case; a PascalCase replacement denies.'],
  ],
  'promptkit-go',
);

/** What a filter's reply means. */
export const filterReplies = section('promptkit.md §6.3', [
  [
    'PK-6-21',
    'both',
    '`allow` that is true once, without `replace`, allows; reason and metadata travel with it.',
  ],
  ['PK-6-22', 'both', '`allow: true` with a `replace` of the phase’s shape modifies.'],
  ['PK-6-23', 'both', '`allow: true` with any other `replace`, null and {} included, denies.'],
  ['PK-6-24', 'both', '`allow: true` with `enforced: true` denies.'],
  [
    'PK-6-25',
    'both',
    '`allow: true` with a wrong-typed reason, enforced or metadata denies; null counts as absent.',
  ],
  ['PK-6-26', 'both', '`allow: false` denies with its reason and metadata.'],
  ['PK-6-27', 'both', '`allow: false` without a reason has `hook "h" denied`.'],
  [
    'PK-6-28',
    'both',
    '`allow: false` drops a wrong-typed companion and ignores `replace`, each with a warning.',
  ],
  ['PK-6-29', 'both', '`allow: false` with `enforced: true` is an enforced denial.'],
  [
    'PK-6-30',
    'both',
    '`allow` missing, null, "true" or 1, {} and {"ack": true} deny: `hook "h" gave no verdict: …`.',
  ],
  ['PK-6-31', 'both', 'A reply that the reader refuses denies: `hook "h" gave no verdict: …`.'],
]);

/** Every way in which a filter's process can fail denies with `hook "h" failed: …`. */
export const filterFaults = section('promptkit.md §6.3', [
  ['PK-6-32', 'oneshot', 'A filter that exits non-zero denies, whatever it printed.'],
  ['PK-6-33', 'oneshot', 'A filter that a signal ends denies, whatever it printed.'],
  ['PK-6-34', 'both', 'A filter that times out denies.'],
  ['PK-6-35', 'both', 'A filter over its output limit denies.'],
  ['PK-6-36', 'both', 'A filter that cannot start denies.'],
  ['PK-6-37', 'server', 'A filter that answers with a JSON-RPC error denies.'],
  ['PK-6-38', 'server', 'A filter whose server dies, or whose circuit is open, denies.'],
  ['PK-6-39', 'oneshot', 'A filter whose request cannot be built denies, and the caller has a decision.'],
]);

/** How a filter redacts. */
export const replacements = section('promptkit.md §6.3', [
  [
    'PK-6-40',
    'both',
    'before_call takes `messages`, `system_prompt` or both; each replaces the whole member.',
  ],
  ['PK-6-41', 'both', 'after_call takes `message` with role assistant, which replaces the whole message.'],
  ['PK-6-42', 'both', 'before_execution takes `args`, an object, which is what the tool reads.'],
  [
    'PK-6-43',
    'both',
    'Replaced args that miss input_schema deny, naming the hook, and the tool does not run.',
  ],
  ['PK-6-44', 'both', 'after_execution takes `content`, a string, which is what the model reads.'],
  [
    'PK-6-45',
    'both',
    'For the caller that content is the result: parsed if the old one was no string and it is JSON.',
  ],
  ['PK-6-46', 'oneshot', 'A failed outcome stays failed when its content is replaced.'],
  ['PK-6-47', 'both', 'A key that the phase does not have, such as `mesages`, denies.'],
  ['PK-6-48', 'both', 'Enforced at before_call or after_call gives metadata.replacement if it is a string.'],
  ['PK-6-49', 'both', 'Enforced without such text gives the stock sentence, and never the original.'],
  ['PK-6-50', 'both', 'Enforced at a tool phase is a plain denial.'],
]);

/** When hooks run, and what a chain of them comes to. */
export const hookOrder = section('promptkit.md §6.4', [
  [
    'PK-6-51',
    'both',
    'A denial before_execution: the tool is not run, the model reads `Tool "x" was blocked by hook "h": reason`.',
  ],
  [
    'PK-6-52',
    'both',
    'A denial after_execution withholds the result from caller and model, in the same words.',
  ],
  ['PK-6-53', 'both', 'A session hook is told of start, update and end; its reply is not read.'],
  [
    'PK-6-54',
    'both',
    'An eval hook is told of every eval that was scored or could not be; the eval does not wait.',
  ],
  ['PK-6-55', 'none', 'Without `phases` a hook has every phase of its kind.'],
  ['PK-6-56', 'none', 'Without `mode` provider and tool hooks filter, session and eval hooks observe.'],
  ['PK-6-57', 'both', 'An observer that hangs, crashes or denies delays and changes nothing.'],
  ['PK-6-58', 'oneshot', 'Filters run in the order of the file.'],
  [
    'PK-6-59',
    'oneshot',
    'The first answer that is neither allow nor modify ends the chain, and its hook is named.',
  ],
  ['PK-6-60', 'oneshot', 'Each hook’s metadata goes to the event log, that of an allow too.'],
  ['PK-6-61', 'oneshot', 'After a denial the caller has the deciding hook’s metadata.'],
  [
    'PK-6-62',
    'oneshot',
    'After allows and modifies the caller has all metadata merged in order, later keys winning.',
  ],
]);

/** What design.md asks of hooks beyond the protocol. */
export const hookDesign = section('design.md, Hooks', [
  ['DS-HOOK-01', 'both', 'A shadow is asked, its verdict is recorded, and nobody waits for it or obeys it.'],
  ['DS-HOOK-02', 'oneshot', 'What one filter replaced is what the next filter sees.'],
  [
    'DS-HOOK-03',
    'both',
    'An observer is told its events one after another, in the order in which they happened.',
  ],
  ['DS-HOOK-04', 'oneshot', 'An observer’s queue is bounded, and what is dropped from it is told.'],
  ['DS-HOOK-05', 'both', 'close() waits for what observers are still owed, up to their timeout.'],
]);
