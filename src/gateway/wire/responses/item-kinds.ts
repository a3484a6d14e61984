/** How an item that is a call tells hooks of it. */
export interface CallKind {
  readonly is: 'call';
  /** The tool's name, for tools of the API itself; absent: the member `name`. */
  readonly name?: string;
  /** The member that identifies the call. */
  readonly id: 'call_id' | 'id';
  /** The member whose text is the arguments, or the members that together are. */
  readonly args: string | readonly string[];
  /** Whether the client runs it. */
  readonly isOfClient: boolean;
  /** Where texts of its result stand: members of elements, or the member itself. */
  readonly result?: { readonly member: string; readonly texts?: readonly string[] };
  /** The member that has bytes of a picture, and its kind in the config's `opaque`. */
  readonly image?: string;
}

/** How an item that is a result tells hooks of it. */
export interface ResultKind {
  readonly is: 'result';
  readonly id: 'call_id' | 'id' | 'approval_request_id';
  /** The member with the result. */
  readonly member: string;
  /** The texts of each element of the member; absent: a text, or parts. */
  readonly texts?: readonly string[];
  /** The name of the tool where the call is not at hand. */
  readonly name: string;
}

/** An item all of whose members are told in `other`. */
interface NoteKind {
  readonly is: 'note';
}

type ItemKind = CallKind | ResultKind | NoteKind;

const note: NoteKind = { is: 'note' };

/**
 * The kinds of items but messages and reasoning, as the types of the openai package (`ResponseInputItem`,
 * `ResponseOutputItem`) list them, and those of Codex (`ResponseItem` of openai/codex).
 */
export const itemKinds: Readonly<Record<string, ItemKind>> = {
  function_call: { is: 'call', id: 'call_id', args: 'arguments', isOfClient: true },
  custom_tool_call: { is: 'call', id: 'call_id', args: 'input', isOfClient: true },
  local_shell_call: {
    is: 'call',
    name: 'local_shell',
    id: 'call_id',
    args: ['action'],
    isOfClient: true,
  },
  shell_call: { is: 'call', name: 'shell', id: 'call_id', args: ['action', 'environment'], isOfClient: true },
  apply_patch_call: {
    is: 'call',
    name: 'apply_patch',
    id: 'call_id',
    args: ['operation'],
    isOfClient: true,
  },
  computer_call: {
    is: 'call',
    name: 'computer',
    id: 'call_id',
    args: ['action', 'actions', 'pending_safety_checks'],
    isOfClient: true,
  },
  tool_search_call: {
    is: 'call',
    name: 'tool_search',
    id: 'call_id',
    args: ['arguments'],
    isOfClient: true,
  },
  program: { is: 'call', name: 'program', id: 'call_id', args: ['code'], isOfClient: false },
  web_search_call: { is: 'call', name: 'web_search', id: 'id', args: ['action'], isOfClient: false },
  file_search_call: {
    is: 'call',
    name: 'file_search',
    id: 'id',
    args: ['queries'],
    isOfClient: false,
    result: { member: 'results', texts: ['text'] },
  },
  code_interpreter_call: {
    is: 'call',
    name: 'code_interpreter',
    id: 'id',
    args: ['code'],
    isOfClient: false,
    result: { member: 'outputs', texts: ['logs'] },
  },
  image_generation_call: {
    is: 'call',
    name: 'image_generation',
    id: 'id',
    args: ['revised_prompt'],
    isOfClient: false,
    image: 'result',
  },
  mcp_call: {
    is: 'call',
    id: 'id',
    args: 'arguments',
    isOfClient: false,
    result: { member: 'output' },
  },
  mcp_approval_request: { is: 'call', id: 'id', args: 'arguments', isOfClient: false },
  function_call_output: { is: 'result', id: 'call_id', member: 'output', name: '' },
  custom_tool_call_output: { is: 'result', id: 'call_id', member: 'output', name: '' },
  local_shell_call_output: { is: 'result', id: 'id', member: 'output', name: 'local_shell' },
  shell_call_output: {
    is: 'result',
    id: 'call_id',
    member: 'output',
    texts: ['stdout', 'stderr'],
    name: 'shell',
  },
  apply_patch_call_output: { is: 'result', id: 'call_id', member: 'output', name: 'apply_patch' },
  computer_call_output: { is: 'result', id: 'call_id', member: 'output', name: 'computer' },
  program_output: { is: 'result', id: 'call_id', member: 'result', name: 'program' },
  mcp_approval_response: { is: 'result', id: 'approval_request_id', member: 'reason', name: '' },
  mcp_list_tools: note,
  tool_search_output: note,
  additional_tools: note,
  configuration_update: note,
  compaction: note,
  compaction_summary: note,
  compaction_trigger: note,
  context_compaction: note,
};
