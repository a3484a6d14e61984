import { at, type Endpoint, type Frame, isObject, textAt } from './scene.ts';

/** Puts a text into a stream where no text belongs, or where it contradicts earlier events. */
type Lie = (frames: readonly Frame[], text: string) => Frame[];

function change(isIt: (data: unknown) => boolean, edit: (data: object, text: string) => unknown): Lie {
  return (frames, text) => {
    const found = frames.findIndex(({ data }) => isIt(data));
    return frames.map((frame, index) =>
      index === found && isObject(frame.data)
        ? { ...frame, data: edit(structuredClone(frame.data), text) }
        : frame,
    );
  };
}

const ofType = (type: string) => (data: unknown) => textAt(data, 'type') === type;
const isAny = (data: unknown) => isObject(data);

const set =
  (...path: (string | number)[]) =>
  (data: object, text: string) => {
    const last = path.at(-1);
    const holder = at(data, ...path.slice(0, -1));
    if (typeof holder === 'object' && holder !== null && last !== undefined) Reflect.set(holder, last, text);
    return data;
  };

/** Not the form of an id; a text in that form would pass as one. */
const setId =
  (...path: (string | number)[]) =>
  (data: object, text: string) =>
    set(...path)(data, `${text} is no id`);

const add =
  (frame: (text: string) => Frame): Lie =>
  (frames, text) => [...frames.slice(0, 3), frame(text), ...frames.slice(3)];

const ofEvents: Record<string, Lie> = {
  comment: (frames, text) => before(frames, `: ${text}\n`),
  'event id': (frames, text) => before(frames, `id: ${text} is no id\n`),
  retry: (frames, text) => before(frames, `retry: ${text}\n`),
  'unknown field': (frames, text) => before(frames, `mood: ${text}\n`),
  'comment alone': (frames, text) => before(frames, `: ${text}\n\n`),
  'unknown member': change(isAny, set('mood')),
  'unknown event': add((text) => ({ event: 'mood', data: { type: 'mood', mood: text } })),
  'event name': add((text) => ({ event: text, data: { type: text } })),
  'behind the end': (frames, text) => [...frames, { event: 'mood', data: { type: 'mood', mood: text } }],
  'no JSON': add((text) => ({ data: text, isRaw: true })),
};

function before(frames: readonly Frame[], lines: string): Frame[] {
  return frames.map((frame, index) => (index === 1 ? { ...frame, lines } : frame));
}

const lies: Readonly<Record<string, Readonly<Record<string, Lie>>>> = {
  chat: {
    ...ofEvents,
    id: change(isAny, setId('id')),
    object: change(isAny, set('object')),
    model: change(isAny, setId('model')),
    fingerprint: change(isAny, setId('system_fingerprint')),
    role: change(isAny, set('choices', 0, 'delta', 'role')),
    'finish reason': change(
      (data) => textAt(data, 'choices', 0, 'finish_reason') !== '',
      set('choices', 0, 'finish_reason'),
    ),
    'text at the end': change(
      (data) => textAt(data, 'choices', 0, 'finish_reason') !== '',
      set('choices', 0, 'delta', 'content'),
    ),
    usage: change((data) => isObject(at(data, 'usage')), set('usage', 'mood')),
    'choice of the usage': change(
      (data) => isObject(at(data, 'usage')),
      (data, text) => ({ ...data, choices: [{ index: 0, delta: { content: text }, finish_reason: null }] }),
    ),
  },
  messages: {
    ...ofEvents,
    id: change(ofType('message_start'), setId('message', 'id')),
    'begun content': change(ofType('message_start'), (data, text) => {
      const message = at(data, 'message');
      if (isObject(message)) message['content'] = [{ type: 'text', text }];
      return data;
    }),
    'begun text': change(ofType('content_block_start'), set('content_block', 'text')),
    ping: change(ofType('ping'), set('mood')),
    'block end': change(ofType('content_block_stop'), set('mood')),
    'stop reason': change(ofType('message_delta'), set('delta', 'stop_reason')),
    'message end': change(ofType('message_stop'), set('mood')),
    usage: change(ofType('message_delta'), set('usage', 'mood')),
  },
  responses: {
    ...ofEvents,
    id: change(ofType('response.created'), setId('response', 'id')),
    created: change(ofType('response.created'), set('response', 'instructions')),
    'in progress': change(ofType('response.in_progress'), set('response', 'mood')),
    'item id': change(ofType('response.output_text.delta'), setId('item_id')),
    'added part': change(ofType('response.content_part.added'), set('part', 'text')),
    'added item': change(ofType('response.output_item.added'), set('item', 'mood')),
    'text done': change(ofType('response.output_text.done'), set('text')),
    'part done': change(ofType('response.content_part.done'), set('part', 'text')),
    'item done': change(ofType('response.output_item.done'), set('item', 'mood')),
    'text of the item done': change(
      (data) => ofType('response.output_item.done')(data) && textAt(data, 'item', 'type') === 'message',
      set('item', 'content', 0, 'text'),
    ),
    completed: change(ofType('response.completed'), set('response', 'mood')),
    'text of the completed': change(ofType('response.completed'), (data, text) => {
      const output = at(data, 'response', 'output');
      if (Array.isArray(output))
        output.push({ ...output[0], id: 'msg_9', content: [{ type: 'output_text', text, annotations: [] }] });
      return data;
    }),
    logprobs: change(ofType('response.output_text.delta'), (data, text) => ({
      ...data,
      logprobs: [{ token: text, logprob: -1, top_logprobs: [] }],
    })),
    obfuscation: change(ofType('response.output_text.delta'), setId('obfuscation')),
  },
};

export const liesOf = ({ name }: Endpoint): readonly string[] => Object.keys(lies[name] ?? {});

export function lie({ name }: Endpoint, channel: string, frames: readonly Frame[], text: string): Frame[] {
  return lies[name]?.[channel]?.(frames, text) ?? [...frames];
}
