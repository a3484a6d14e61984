import { RuntimeError } from '../base/errors.ts';
import { isTextTooDeep } from '../base/json/depth.ts';
import { findDuplicateKey } from '../base/json/duplicate-key.ts';
import { canonicalText } from '../base/json/equal.ts';
import { isObject, Json } from '../base/json/json.ts';
import { tryParse } from '../base/json/parse.ts';
import { exactMembers } from '../base/json/scan.ts';
import { formatCount } from '../base/text/phrases.ts';
import type { Emit } from '../contract/event.ts';
import type { PinChange, PinReport } from '../contract/pin.ts';
import { digestOfPin, type KeptPin, type Pins } from '../store/pins.ts';

/** What an MCP server says about itself. */
export interface Listing {
  readonly instructions: string | undefined;
  /** The definitions of all pages in order, each as its exact JSON text. */
  readonly tools: readonly string[];
}

/** The parts of a listing that may reach a model. */
export interface JudgedListing {
  /** Undefined: the server has none, or they are withheld. */
  readonly instructions: string | undefined;
  /** One for each definition, in the order of the listing. */
  readonly tools: readonly JudgedTool[];
}

export type JudgedTool =
  /** As the server sent it, but without annotations unless a person accepted them. */
  | { readonly name: string; readonly definition: Json }
  /** A call throws the error. Without a name, no call can mean the tool. */
  | { readonly name: string | undefined; readonly denied: RuntimeError };

export interface PinAcceptance {
  readonly by: string;
  /** `digest` of the report that the person read. */
  readonly digest: string;
  /** `pinned_digest` of that report. Default: any pin is replaced. */
  readonly pinned?: string | undefined;
}

/** The pin of one server. All methods throw STORE_FAILED. */
export interface ServerPins {
  /** The first whole listing of a server becomes its pin; a part, such as one page, never does. */
  judge(listing: Listing, options?: { readonly isPart?: boolean }): Promise<JudgedListing>;
  report(listing: Listing): Promise<PinReport>;
  /** Throws DEFINITION_UNACCEPTED unless the listing and the pin have the digests that the person saw, and USAGE. */
  accept(listing: Listing, acceptance: PinAcceptance): Promise<PinReport>;
}

export interface PinsOptions {
  readonly server: string;
  /** `required`: nothing passes before a person has accepted it. */
  readonly policy: 'first_seen' | 'required';
  readonly store: () => Promise<Pins>;
  readonly emit: Emit;
}

export function openPins({ server, policy, store, emit }: PinsOptions): ServerPins {
  const command = `signalbox mcp pin ${server}`;
  const warn = (message: string) =>
    emit({ type: 'note', name: server, level: 'warn', message: `MCP server "${server}": ${message}` });
  const seeFirst = async ({ text, items }: ReadListing): Promise<KeptPin> => {
    const pins = await store();
    const found = await pins.findPin(server);
    if (found !== undefined) return found;
    const pin = await pins.addPin({ server, text, at: Date.now() });
    const then =
      policy === 'required' ? 'Nothing passes until a person accepts them' : 'Read and accept them';
    warn(
      `its ${formatCount(items.size, 'definition')} were seen for the first time. ${then}: \`${command}\``,
    );
    return pin;
  };
  const unaccepted = (name: string, why: string) =>
    new RuntimeError(
      'DEFINITION_UNACCEPTED',
      `tool ${JSON.stringify(name)} of MCP server "${server}" ${why}, and no person has accepted its definition`,
      { hint: `Ask a person to read and accept it: \`${command}\`. Do not accept it yourself.` },
    );

  let warnedOf: string | undefined;
  const warnOnce = ({ text }: ReadListing, { tools }: JudgedListing) => {
    const denied = tools.flatMap((tool) => ('denied' in tool ? [tool.denied.message] : []));
    if (denied.length === 0 || warnedOf === text) return;
    warnedOf = text;
    const more = denied.length > MOST_NAMED ? `; and ${denied.length - MOST_NAMED} more` : '';
    warn(
      `${formatCount(denied.length, 'tool')} denied until a person runs \`${command}\`: ${denied.slice(0, MOST_NAMED).join('; ')}${more}`,
    );
  };

  return {
    judge: async (listing, { isPart = false } = {}) => {
      const read = readListing(listing);
      const pin = isPart ? await (await store()).findPin(server) : await seeFirst(read);
      const pinned = itemsOf(pin);
      const isAccepted = typeof pin?.acceptedBy === 'string';
      const mayPass = (item: string, canonical: string | undefined) =>
        canonical !== undefined && pinned.get(item) === canonical && (isAccepted || policy === 'first_seen');
      const judged: JudgedListing = {
        instructions: mayPass(INSTRUCTIONS, read.items.get(INSTRUCTIONS)) ? listing.instructions : undefined,
        tools: read.tools.map(({ name, text, fault }) => {
          if (fault !== undefined) return { name, denied: new RuntimeError('DEFINITION_UNACCEPTED', fault) };
          const [before, now] = [pinned.get(itemOf(name)), read.items.get(itemOf(name))];
          if (mayPass(itemOf(name), now))
            return { name, definition: isAccepted ? new Json(text) : withoutAnnotations(text) };
          const why = before === undefined ? 'is new' : before === now ? 'is as first seen' : 'has changed';
          return { name, denied: unaccepted(name, why) };
        }),
      };
      if (!isPart) warnOnce(read, judged);
      return judged;
    },
    report: async (listing) => {
      const read = readListing(listing);
      return toReport(read, await seeFirst(read));
    },
    accept: async (listing, { by, digest, pinned }) => {
      if (by.trim() === '') throw new RuntimeError('USAGE', 'the name of the person who accepts is empty');
      const read = readListing(listing);
      const pin = await seeFirst(read);
      const isAsShown = digest === digestOfPin(read.text) && (pinned ?? pin.digest) === pin.digest;
      const accepted =
        isAsShown &&
        (await (
          await store()
        ).acceptPin({ server, text: read.text, by, at: Date.now(), instead: pin.digest }));
      if (!accepted)
        throw new RuntimeError(
          'DEFINITION_UNACCEPTED',
          `the definitions of MCP server "${server}", or its pin, are not those with the digest ${digest} any more; nothing was accepted`,
          { hint: `Read them again with \`${command}\`.` },
        );
      return toReport(read, accepted);
    },
  };
}

const INSTRUCTIONS = 'instructions';
const MOST_NAMED = 10;

function itemOf(name: string): string {
  return `tool:${name}`;
}

interface ReadListing {
  /** The canonical text of each item that can be accepted. */
  readonly items: ReadonlyMap<string, string>;
  /** All of them as one object. */
  readonly text: string;
  readonly tools: readonly ReadTool[];
}

type ReadTool =
  | { readonly name: string; readonly text: string; readonly fault?: undefined }
  | { readonly name: string | undefined; readonly text: string; readonly fault: string };

function readListing({ instructions, tools }: Listing): ReadListing {
  const read = tools.map(readTool);
  const items = new Map<string, string>();
  if (instructions !== undefined) items.set(INSTRUCTIONS, JSON.stringify(instructions));
  const counts = new Map<string | undefined, number>();
  for (const { name } of read) counts.set(name, (counts.get(name) ?? 0) + 1);
  const once = read.map((tool): ReadTool => {
    const { name, text, fault } = tool;
    if (fault !== undefined) return tool;
    if (counts.get(name) !== 1) return { name, text, fault: `tool ${JSON.stringify(name)} is listed twice` };
    items.set(itemOf(name), canonicalText(text));
    return tool;
  });
  const members = [...items.keys()].toSorted().map((item) => `${JSON.stringify(item)}:${items.get(item)}`);
  return { items, text: `{${members.join(',')}}`, tools: once };
}

function readTool(text: string, place: number): ReadTool {
  const refuse = (why: string, name?: string) => ({ name, text, fault: `definition ${place + 1} ${why}` });
  if (isTextTooDeep(text)) return refuse('is nested too deeply');
  const value = tryParse(text);
  if (!isObject(value)) return refuse('is not a JSON object');
  const { name } = value;
  if (typeof name !== 'string' || name === '') return refuse('has no name');
  // Readers of JSON differ in which of the two they take.
  const duplicate = findDuplicateKey(text);
  return duplicate === undefined ? { name, text } : refuse(`has "${duplicate}" twice`, name);
}

function itemsOf(pin: KeptPin | undefined): ReadonlyMap<string, string> {
  const members = pin === undefined ? [] : exactMembers(new Json(pin.text));
  return new Map([...members].map(([item, { text }]) => [item, text]));
}

function withoutAnnotations(text: string): Json {
  const members = exactMembers(new Json(text));
  if (!members.has('annotations')) return new Json(text);
  const rest = [...members].filter(([key]) => key !== 'annotations');
  return new Json(`{${rest.map(([key, value]) => `${JSON.stringify(key)}:${value.text}`).join(',')}}`);
}

function toReport({ items, text, tools }: ReadListing, pin: KeptPin): PinReport {
  const pinned = itemsOf(pin);
  const jsonOf = (kept: string | undefined) => (kept === undefined ? null : new Json(kept));
  const changes = [...new Set([...items.keys(), ...pinned.keys()])].flatMap((item): PinChange[] => {
    const [before, now] = [pinned.get(item), items.get(item)];
    const ofSame = pin.acceptedBy === null ? 'unaccepted' : undefined;
    const change =
      before === undefined ? 'new' : now === undefined ? 'removed' : before === now ? ofSame : 'changed';
    return change === undefined ? [] : [{ item, change, pinned: jsonOf(before), sent: jsonOf(now) }];
  });
  return {
    ...{ server: pin.server, digest: digestOfPin(text), pinned_digest: pin.digest },
    waits: changes.some(({ change }) => change !== 'removed'),
    accepted_by: pin.acceptedBy,
    accepted_at: pin.acceptedAt === null ? null : new Date(pin.acceptedAt).toISOString(),
    first_seen_at: new Date(pin.pinnedAt).toISOString(),
    changes,
    unusable: tools.flatMap(({ fault }) => fault ?? []),
  };
}
