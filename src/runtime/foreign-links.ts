import type { Resolved } from '../binding/resolve.ts';
import type { ForeignResolved } from '../binding/resolve-foreign.ts';
import { hideInReply } from '../capability/read-reply.ts';
import type { Cassette } from '../cassette/cassette.ts';
import type { ForeignHookConfig } from '../config/config.ts';
import type { Emit } from '../contract/event.ts';
import { noScrub, type Scrubber, scrubError } from '../contract/scrub.ts';
import type { ForeignDialect } from '../dialects/foreign.ts';
import { foreignDialects } from '../dialects/foreign-registry.ts';
import { helloMessage, readHello } from '../dialects/picoclaw/hello.ts';
import { RuntimeError } from '../errors.ts';
import type { ForeignLink } from '../hooks/gate.ts';
import { type Group, type GroupContext, type Member, openGroup } from '../hooks/group.ts';
import { openHttpTransport } from '../transport/http.ts';
import type { Pool } from '../transport/pool.ts';
import type { Greeting, Transport } from '../transport/transport.ts';
import { providePluginData } from './plugin-data.ts';

/** A foreign hook with nothing left to look up. */
export interface ForeignEntry {
  readonly config: ForeignHookConfig;
  readonly resolved: ForeignResolved;
}

/** A link, and where it stands in the chain. */
export interface PlacedLink {
  readonly place: number;
  readonly link: ForeignLink;
}

/** How an entry's transport is opened. */
export interface WrapOptions {
  readonly pool?: Pool;
  readonly isToldOnly?: boolean;
  readonly greeting?: Greeting | undefined;
}

/** What foreign hooks are opened with. */
export interface Yard extends GroupContext {
  readonly cassette: Cassette | undefined;
  readonly wrap: (entry: Pick<Resolved, 'binding'>, options: WrapOptions) => Transport;
  readonly callers: Pool;
  /** For what nobody waits for. */
  readonly followersLane: Pool;
  /** Whatever must be closed. */
  readonly transports: Transport[];
}

/**
 * The links of foreign hooks, whose entries come in the order of the file. All hooks of a dialect are one, at the place
 * of the first of them; of a dialect whose hooks keep their places, those with nothing between them are.
 */
export function openForeignLinks(entries: readonly ForeignEntry[], yard: Yard): PlacedLink[] {
  const groups: ForeignEntry[][] = [];
  for (const entry of entries) {
    const { dialect, place } = entry.config;
    const keepsPlace = foreignDialects[dialect].keepsPlace === true;
    const group = groups.findLast(([first]) => first?.config.dialect === dialect);
    const isApart = keepsPlace && place - (group?.at(-1)?.config.place ?? place) > 1;
    if (group === undefined || isApart) groups.push([entry]);
    else group.push(entry);
  }
  return groups.flatMap((group) => {
    const [first] = group;
    if (first === undefined) return [];
    const dialect: ForeignDialect = foreignDialects[first.config.dialect];
    return [{ place: first.config.place, link: { group: openOne(dialect, group, yard) } }];
  });
}

function openOne(dialect: ForeignDialect, entries: readonly ForeignEntry[], yard: Yard): Group {
  const members = entries.map((entry): Member => {
    providePluginData(entry.config, yard.emit);
    const { name, onFailure = 'own', settings, source } = entry.config;
    const { cwd } = entry.resolved;
    return { seat: { name, onFailure, cwd, source: source.file, settings }, ...carry(entry, yard) };
  });
  return openGroup(dialect, members, yard);
}

/** What carries messages to the entry's process or endpoint; nothing where it needs none. */
function carry(
  entry: ForeignEntry,
  { wrap, callers, followersLane, transports, cassette, emit, scrubber }: Yard,
): Pick<Member, 'timeoutMs' | 'transport' | 'aside'> {
  const { binding, http } = entry.resolved;
  if (http !== undefined) {
    const who = { name: http.name, capability: 'hook', dialect: 'claude', mode: 'oneshot' } as const;
    const [transport, aside] = [callers, followersLane].map((pool) => {
      const open = () => openHttpTransport(http, pool);
      const opened = cassette?.wrap(who, open) ?? open();
      transports.push(opened);
      return opened;
    });
    return { timeoutMs: http.timeoutMs, transport, aside };
  }
  if (binding === undefined) return { timeoutMs: 0, transport: undefined, aside: undefined };
  const greeting = greetingOf(entry, emit, scrubber);
  const transport = wrap({ binding }, { greeting });
  // One process is both asked and told; what has a process for each exchange may have two lanes.
  const aside = greeting === undefined ? wrap({ binding }, { pool: followersLane }) : transport;
  return { timeoutMs: binding.timeoutMs, transport, aside };
}

/** What is said to a process before it is asked anything. */
function greetingOf(
  { config: hook, resolved: { cwd } }: ForeignEntry,
  emit: Emit,
  scrubber: Scrubber = noScrub,
): Greeting | undefined {
  if (hook.dialect !== 'picoclaw') return undefined;
  const { name, onFailure = 'own', settings } = hook;
  const seat = { name, onFailure, settings, cwd } as const;
  return {
    message: helloMessage(seat),
    check: (reply) => {
      const greeting = readHello(seat, reply);
      if (!greeting.accepted) {
        const told = reply instanceof RuntimeError ? greeting : readHello(seat, hideInReply(reply, scrubber));
        return scrubError(told.accepted ? greeting.error : told.error, scrubber);
      }
      for (const { level, message } of greeting.notes) emit({ type: 'note', name, level, message });
      return undefined;
    },
  };
}
