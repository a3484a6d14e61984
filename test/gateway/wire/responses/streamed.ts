import { type SseEvent, SseParser } from '../../../../src/gateway/wire/sse.ts';

type Members = Readonly<Record<string, unknown>>;

interface Item extends Members {
  readonly type: string;
  readonly id: string;
}

export function streamOf(
  response: Members & { readonly output: readonly Members[] },
  pieceChars = 5,
): string {
  let sequence = 0;
  const events: string[] = [];
  const send = (type: string, members: Members) => {
    const data = JSON.stringify({ type, sequence_number: sequence++, ...members });
    events.push(`event: ${type}\ndata: ${data}\n\n`);
  };
  const begun = {
    ...response,
    status: 'in_progress',
    output: [],
    usage: null,
    incomplete_details: null,
    error: null,
  };
  send('response.created', { response: begun });
  send('response.in_progress', { response: begun });
  for (const [output_index, item] of response.output.entries()) {
    if (!isItem(item)) throw new Error('an item without type and id');
    sendItem(item, (type, members) => send(type, { output_index, ...members }), pieceChars);
  }
  send(`response.${String(response['status'])}`, { response });
  return events.join('');
}

function isItem(item: Members): item is Item {
  return typeof item['type'] === 'string' && typeof item['id'] === 'string';
}

type Send = (type: string, members: Members) => void;

const texts: Readonly<Record<string, readonly [member: string, event: string]>> = {
  function_call: ['arguments', 'response.function_call_arguments'],
  custom_tool_call: ['input', 'response.custom_tool_call_input'],
  mcp_call: ['arguments', 'response.mcp_call_arguments'],
  code_interpreter_call: ['code', 'response.code_interpreter_call_code'],
};

const progress: Readonly<Record<string, readonly string[]>> = {
  web_search_call: ['in_progress', 'searching', 'completed'],
  file_search_call: ['in_progress', 'searching', 'completed'],
  code_interpreter_call: ['in_progress', 'interpreting', 'completed'],
  mcp_call: ['in_progress', 'completed'],
  mcp_list_tools: ['in_progress', 'completed'],
};

function sendItem(item: Item, send: Send, pieceChars: number): void {
  const { id: item_id, type } = item;
  const [member, event] = texts[type] ?? [];
  const begun =
    type === 'message'
      ? { ...item, status: 'in_progress', content: [] }
      : type === 'reasoning'
        ? { ...item, summary: [], content: [], encrypted_content: 'gAAAAfirst' }
        : member === undefined
          ? item
          : { ...item, status: 'in_progress', [member]: '' };
  send('response.output_item.added', { item: begun });
  const [first, ...further] = progress[type] ?? [];
  if (first !== undefined) send(`response.${type}.${first}`, { item_id });
  for (const [summary_index, part] of partsOf(item['summary']).entries())
    sendPart({
      send: (name, members) => send(name, { item_id, summary_index, ...members }),
      part,
      pieceChars,
    });
  for (const [content_index, part] of partsOf(item['content']).entries())
    sendPart({
      send: (name, members) => send(name, { item_id, content_index, ...members }),
      part,
      pieceChars,
    });
  if (member !== undefined && event !== undefined) {
    for (const delta of piecesOf(String(item[member]), pieceChars))
      send(`${event}.delta`, { item_id, delta, obfuscation: 'xYz01' });
    send(`${event}.done`, { item_id, [member]: item[member] });
  }
  for (const name of further) send(`response.${type}.${name}`, { item_id });
  send('response.output_item.done', { item });
}

const partEvents: Readonly<Record<string, readonly [frame: string, text: string, member: string]>> = {
  output_text: ['content_part', 'output_text', 'text'],
  refusal: ['content_part', 'refusal', 'refusal'],
  reasoning_text: ['content_part', 'reasoning_text', 'text'],
  summary_text: ['reasoning_summary_part', 'reasoning_summary_text', 'text'],
};

function sendPart({ send, part, pieceChars }: { send: Send; part: Members; pieceChars: number }): void {
  const [frame, name, member] = partEvents[String(part['type'])] ?? [];
  if (frame === undefined || member === undefined) throw new Error(`no events for ${String(part['type'])}`);
  const isText = name === 'output_text';
  const tokens = isText ? { logprobs: [] } : {};
  send(`response.${frame}.added`, { part: { ...part, [member]: '', ...(isText && { annotations: [] }) } });
  for (const delta of piecesOf(String(part[member]), pieceChars))
    send(`response.${name}.delta`, { delta, ...tokens });
  for (const [annotation_index, annotation] of partsOf(part['annotations']).entries())
    send('response.output_text.annotation.added', { annotation_index, annotation });
  send(`response.${name}.done`, { [member]: part[member], ...tokens });
  send(`response.${frame}.done`, { part });
}

function partsOf(value: unknown): Members[] {
  return Array.isArray(value) ? value : [];
}

function piecesOf(text: string, chars: number): string[] {
  const pieces: string[] = [];
  for (let at = 0; at < text.length; at += chars) pieces.push(text.slice(at, at + chars));
  return pieces;
}

export function eventsOf(stream: string): SseEvent[] {
  const parser = new SseParser(100_000_000);
  return [...parser.push(new TextEncoder().encode(stream)), ...parser.end()];
}
