import type { Channel } from '../codec.ts';
import { all, type Members, type Shape } from '../shape.ts';
import { annotation, part, shellOutput } from './shapes.ts';

/** Where in an item a value stands: its keys, and the members of the event that have an index. */
type EventPath = readonly string[];

/** What an event of a stream is about. */
export type EventKind =
  /** The response itself, as far as it is. */
  | { readonly is: 'response'; readonly isEnd: boolean }
  /** An item, at its beginning or its end. */
  | { readonly is: 'item'; readonly isEnd: boolean }
  /** A part of an item, in the member `part`, `annotation`, …; `isEnd`: as a whole. */
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
      readonly channel?: Channel['member'];
      /** Texts of an object `delta`. */
      readonly members?: readonly string[];
    }
  /** A text as a whole. */
  | { readonly is: 'text'; readonly path: EventPath; readonly member: string }
  /** How far a tool of the API is. */
  | { readonly is: 'status' }
  /** Bytes, of a kind of the config's `opaque`. */
  | { readonly is: 'bytes'; readonly member: string; readonly bytes: 'image' | 'audio' }
  /** What is said in a sound. */
  | { readonly is: 'transcript' }
  | { readonly is: 'nothing' };

const content: EventPath = ['content', 'content_index'];
const summary: EventPath = ['summary', 'summary_index'];
const command: EventPath = ['action', 'commands', 'command_index'];

/** The events of the union `ResponseStreamEvent` of the openai package, and its `keepalive`. */
const kinds: Readonly<Record<string, EventKind>> = {
  created: { is: 'response', isEnd: false },
  queued: { is: 'response', isEnd: false },
  in_progress: { is: 'response', isEnd: false },
  completed: { is: 'response', isEnd: true },
  incomplete: { is: 'response', isEnd: true },
  failed: { is: 'response', isEnd: true },
  'output_item.added': { is: 'item', isEnd: false },
  'output_item.done': { is: 'item', isEnd: true },
  'content_part.added': { is: 'part', path: content, member: 'part', isEnd: false, shape: part },
  'content_part.done': { is: 'part', path: content, member: 'part', isEnd: true, shape: part },
  'reasoning_summary_part.added': { is: 'part', path: summary, member: 'part', isEnd: false, shape: part },
  'reasoning_summary_part.done': { is: 'part', path: summary, member: 'part', isEnd: true, shape: part },
  'output_text.annotation.added': {
    is: 'part',
    path: [...content, 'annotations', 'annotation_index'],
    member: 'annotation',
    isEnd: true,
    shape: annotation,
  },
  'output_text.delta': { is: 'delta', path: [...content, 'text'], channel: 'content' },
  'output_text.done': { is: 'text', path: [...content, 'text'], member: 'text' },
  'refusal.delta': { is: 'delta', path: [...content, 'refusal'], channel: 'refusal' },
  'refusal.done': { is: 'text', path: [...content, 'refusal'], member: 'refusal' },
  'reasoning_text.delta': { is: 'delta', path: [...content, 'text'], channel: 'reasoning' },
  'reasoning_text.done': { is: 'text', path: [...content, 'text'], member: 'text' },
  'reasoning_summary_text.delta': { is: 'delta', path: [...summary, 'text'], channel: 'reasoning' },
  'reasoning_summary_text.done': { is: 'text', path: [...summary, 'text'], member: 'text' },
  'function_call_arguments.delta': { is: 'delta', path: ['arguments'] },
  'function_call_arguments.done': { is: 'text', path: ['arguments'], member: 'arguments' },
  'mcp_call_arguments.delta': { is: 'delta', path: ['arguments'] },
  'mcp_call_arguments.done': { is: 'text', path: ['arguments'], member: 'arguments' },
  'custom_tool_call_input.delta': { is: 'delta', path: ['input'] },
  'custom_tool_call_input.done': { is: 'text', path: ['input'], member: 'input' },
  'code_interpreter_call_code.delta': { is: 'delta', path: ['code'] },
  'code_interpreter_call_code.done': { is: 'text', path: ['code'], member: 'code' },
  'shell_call_command.added': { is: 'part', path: command, member: 'command', isEnd: false, shape: 'other' },
  'shell_call_command.delta': { is: 'delta', path: command },
  'shell_call_command.done': { is: 'text', path: command, member: 'command' },
  'shell_call_output_content.delta': {
    is: 'delta',
    path: ['output', 'command_index'],
    members: ['stdout', 'stderr'],
  },
  'shell_call_output_content.done': {
    is: 'part',
    path: ['output'],
    member: 'output',
    isEnd: false,
    shape: shellOutput,
  },
  'image_generation_call.partial_image': { is: 'bytes', member: 'partial_image_b64', bytes: 'image' },
  'audio.delta': { is: 'bytes', member: 'delta', bytes: 'audio' },
  'audio.done': { is: 'nothing' },
  'audio.transcript.delta': { is: 'transcript' },
  'audio.transcript.done': { is: 'nothing' },
};

const statuses: Readonly<Record<string, readonly string[]>> = {
  web_search_call: ['in_progress', 'searching', 'completed'],
  file_search_call: ['in_progress', 'searching', 'completed'],
  code_interpreter_call: ['in_progress', 'interpreting', 'completed'],
  image_generation_call: ['in_progress', 'generating', 'completed'],
  mcp_call: ['in_progress', 'completed', 'failed'],
  mcp_list_tools: ['in_progress', 'completed', 'failed'],
  compaction: ['compacting'],
};

const kindsByType: ReadonlyMap<string, EventKind> = new Map([
  ...Object.entries(kinds).map(([name, kind]) => [`response.${name}`, kind] as const),
  ...Object.entries(statuses).flatMap(([item, names]) =>
    names.map((name) => [`response.${item}.${name}`, { is: 'status' }] as const),
  ),
  ['keepalive', { is: 'nothing' }],
]);

/** Undefined for a type of event that is not known. */
export function eventKindOf(type: string): EventKind | undefined {
  return kindsByType.get(type);
}

/** Members that any event may have beside what it is about; hooks see all others as `stream.…` in `other`. */
export const eventMembers: Members = {
  ...all('number', 'sequence_number', 'output_index', 'content_index', 'summary_index', 'annotation_index'),
  ...all('number', 'command_index', 'partial_image_index'),
  ...all('id', 'item_id', 'background', 'output_format', 'quality', 'size'),
  obfuscation: 'padding',
  logprobs: { emptied: '[]' },
};
