import type { Place } from '../../place.ts';
import { withMembers } from './assembled-block.ts';

/** The data of a `message_start`; without a message, that of one which hooks have begun to tell. */
export function beginMessage(message: Place | undefined): string {
  if (message === undefined) return `{"type":"message_start","message":${unknownMessage}}`;
  const begun = withMembers(
    message,
    new Map([
      ['content', '[]'],
      ...endKeys.filter((key) => message.at(key) !== undefined).map((key) => [key, 'null'] as const),
    ]),
  );
  return `{"type":"message_start","message":${begun}}`;
}

const unknownMessage = JSON.stringify({
  id: 'msg_signalbox',
  type: 'message',
  role: 'assistant',
  model: '',
  content: [],
  stop_reason: null,
  stop_sequence: null,
  usage: { input_tokens: 0, output_tokens: 0 },
});

const endKeys = ['stop_reason', 'stop_sequence', 'stop_details'] as const;

export function blockStart(index: number, block: string): string {
  return `{"type":"content_block_start","index":${index},"content_block":${block}}`;
}

export function blockStop(index: number): string {
  return `{"type":"content_block_stop","index":${index}}`;
}

/** A delta with one member beside its type. */
export function delta(index: number, type: string, member: string, json: string): string {
  return `{"type":"content_block_delta","index":${index},"delta":{"type":"${type}","${member}":${json}}}`;
}

/** The data of the events that end a message: its reason, its counts, and what comes late. */
export function endMessage(message: Place): readonly string[] {
  const ended = [...endKeys, 'container'].flatMap((key) => memberText(message, key));
  const late = ['usage', 'context_management', 'input_transformations'].flatMap((key) =>
    memberText(message, key),
  );
  const members = [`"type":"message_delta"`, `"delta":{${ended.join(',')}}`, ...late];
  return [`{${members.join(',')}}`, '{"type":"message_stop"}'];
}

function memberText(message: Place, key: string): string[] {
  const place = message.at(key);
  return place === undefined ? [] : [`${JSON.stringify(key)}:${place.json.text}`];
}
