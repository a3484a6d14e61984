import type { Channel } from '../codec.ts';
import { all, type Members, type Shape } from '../shape.ts';
import { annotation, outputItem, part, shellOutput } from './shapes.ts';

// The events of the union `ResponseStreamEvent` of the openai package, and its `keepalive`.

/** Where a value of an item stands: its keys, and in place of an index the member of the event that has it. */
type EventPath = readonly string[];

/** What an event is about, by its type. */
export type EventKind =
  /** The response itself, as far as it is. */
  | { readonly is: 'response'; readonly isEnd: boolean }
  /** An item (with an empty path) or a part of one, in the member `item`, `part`, …; `isEnd`: as a whole. */
  | {
      readonly is: 'part';
      readonly path: EventPath;
      readonly member: string;
      readonly isEnd: boolean;
      readonly shape: Shape;
    }
  /** More of a text. */
  | {
      readonly is: 'delta';
      readonly path: EventPath;
      readonly channel?: Channel['member'] | undefined;
      /** Texts of an object `delta`. */
      readonly members?: readonly string[];
    }
  /** A text as a whole. */
  | { readonly is: 'text'; readonly path: EventPath; readonly member: string }
  /** Nothing of an item. `isFree`: it need not wait, and may come behind the end. */
  | { readonly is: 'rest'; readonly members?: Members; readonly isTranscript?: true; readonly isFree?: true };

/** The lists of parts: the event of a part without `.added` and `.done`, and its member with the index. */
export const partLists = {
  content: { event: 'content_part', index: 'content_index' },
  summary: { event: 'reasoning_summary_part', index: 'summary_index' },
} as const;

/** A text that comes in pieces: the events `.delta` and `.done`, the second with the whole text in `member`. */
export interface StreamedText {
  readonly event: string;
  /** The type of its item. */
  readonly item: string;
  /** The list and the type of its part; absent: the item itself has the text. */
  readonly list?: keyof typeof partLists;
  readonly part?: string;
  readonly member: string;
  readonly channel?: Channel['member'];
}

const said = { item: 'message', list: 'content' } as const;
const thought = { item: 'reasoning', member: 'text', channel: 'reasoning' } as const;

const streamedTexts: readonly [StreamedText, ...StreamedText[]] = [
  { ...said, event: 'output_text', part: 'output_text', member: 'text', channel: 'content' },
  { ...said, event: 'refusal', part: 'refusal', member: 'refusal', channel: 'refusal' },
  { ...thought, event: 'reasoning_text', list: 'content', part: 'reasoning_text' },
  { ...thought, event: 'reasoning_summary_text', list: 'summary', part: 'summary_text' },
  { event: 'function_call_arguments', item: 'function_call', member: 'arguments' },
  { event: 'mcp_call_arguments', item: 'mcp_call', member: 'arguments' },
  { event: 'custom_tool_call_input', item: 'custom_tool_call', member: 'input' },
  { event: 'code_interpreter_call_code', item: 'code_interpreter_call', member: 'code' },
];

export function textOfItem(type: string): StreamedText | undefined {
  return streamedTexts.find(({ item, list }) => list === undefined && item === type);
}

export function textOfPart(type: string): StreamedText | undefined {
  return streamedTexts.find(({ part: own }) => own === type);
}

export function textOfChannel(channel: Channel['member'], list: string): StreamedText {
  return streamedTexts.find((text) => text.channel === channel && text.list === list) ?? streamedTexts[0];
}

const command: EventPath = ['action', 'commands', 'command_index'];

const kinds: readonly (readonly [name: string, kind: EventKind])[] = [
  ...['created', 'queued', 'in_progress'].map((name) => [name, { is: 'response', isEnd: false }] as const),
  ...['completed', 'incomplete', 'failed'].map((name) => [name, { is: 'response', isEnd: true }] as const),
  ...partEvents('output_item', { path: [], member: 'item', shape: outputItem }),
  ...Object.entries(partLists).flatMap(([list, { event, index }]) =>
    partEvents(event, { path: [list, index], member: 'part', shape: part }),
  ),
  ...streamedTexts.flatMap(({ event, list, member, channel }) => {
    const path = list === undefined ? [member] : [list, partLists[list].index, member];
    return [
      [`${event}.delta`, { is: 'delta', path, channel }] as const,
      [`${event}.done`, { is: 'text', path, member }] as const,
    ];
  }),
  [
    'output_text.annotation.added',
    {
      is: 'part',
      path: ['content', 'content_index', 'annotations', 'annotation_index'],
      member: 'annotation',
      isEnd: true,
      shape: annotation,
    },
  ],
  [
    'shell_call_command.added',
    { is: 'part', path: command, member: 'command', isEnd: false, shape: 'other' },
  ],
  ['shell_call_command.delta', { is: 'delta', path: command }],
  ['shell_call_command.done', { is: 'text', path: command, member: 'command' }],
  [
    'shell_call_output_content.delta',
    { is: 'delta', path: ['output', 'command_index'], members: ['stdout', 'stderr'] },
  ],
  [
    'shell_call_output_content.done',
    { is: 'part', path: ['output'], member: 'output', isEnd: false, shape: shellOutput },
  ],
  ['image_generation_call.partial_image', { is: 'rest', members: { partial_image_b64: { bytes: 'image' } } }],
  ['audio.delta', { is: 'rest', members: { delta: { bytes: 'audio' } } }],
  ['audio.done', { is: 'rest', isFree: true }],
  ['audio.transcript.delta', { is: 'rest', isTranscript: true }],
  ['audio.transcript.done', { is: 'rest', isFree: true }],
  // How far a tool of the API is.
  ...Object.entries({
    web_search_call: ['in_progress', 'searching', 'completed'],
    file_search_call: ['in_progress', 'searching', 'completed'],
    code_interpreter_call: ['in_progress', 'interpreting', 'completed'],
    image_generation_call: ['in_progress', 'generating', 'completed'],
    mcp_call: ['in_progress', 'completed', 'failed'],
    mcp_list_tools: ['in_progress', 'completed', 'failed'],
    compaction: ['compacting'],
  }).flatMap(([item, names]) => names.map((name) => [`${item}.${name}`, { is: 'rest' }] as const)),
];

function partEvents(event: string, kind: { path: EventPath; member: string; shape: Shape }) {
  return (['added', 'done'] as const).map(
    (name) => [`${event}.${name}`, { is: 'part', isEnd: name === 'done', ...kind }] as const,
  );
}

/** By the type of the event. */
export const eventKinds: ReadonlyMap<string, EventKind> = new Map<string, EventKind>([
  ...kinds.map(([name, kind]) => [`response.${name}`, kind] as const),
  ['keepalive', { is: 'rest', isFree: true }],
]);

/** Members that any event may have beside what it is about; hooks see all others as `stream.…` in `other`. */
export const eventMembers: Members = {
  ...all('number', 'sequence_number', 'output_index', 'content_index', 'summary_index', 'annotation_index'),
  ...all('number', 'command_index', 'partial_image_index'),
  ...all('id', 'item_id', 'background', 'output_format', 'quality', 'size'),
  obfuscation: 'padding',
  logprobs: { emptied: '[]' },
};

/** Which text of which item a channel is. */
interface ChannelPlace {
  readonly index: number;
  readonly list: string;
  readonly at: number;
  readonly member: string;
  readonly itemId: string;
}

/** The key of a channel, from which a writer can open its item. */
export function formatChannel(index: number, path: readonly (string | number)[], itemId: string): string {
  return [index, ...path, itemId].join('/');
}

/** Throws Error for what is no such key. */
export function parseChannel(key: string): ChannelPlace {
  const [index = '', list = '', at = '', member = '', ...id] = key.split('/');
  if (list === '' || member === '') throw new Error('not a channel of a response');
  return { index: Number(index), list, at: Number(at), member, itemId: id.join('/') };
}
