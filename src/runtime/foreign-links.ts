import type { ResolvedEntry } from '../binding/resolve.ts';
import type { ResolvedForeignHook } from '../binding/resolve-foreign.ts';
import { redactReply } from '../capability/read-reply.ts';
import type { Cassette } from '../cassette/cassette.ts';
import type { ForeignHookConfig } from '../config/config.ts';
import type { Emit } from '../contract/event.ts';
import { noopScrubber, type Scrubber, scrubError } from '../contract/scrub.ts';
import type { ForeignDialect } from '../dialects/foreign-dialect.ts';
import { foreignDialects } from '../dialects/foreign-registry.ts';
import { handshakeMessage, readHandshake } from '../dialects/picoclaw/handshake.ts';
import { RuntimeError } from '../errors.ts';
import type { ForeignLink } from '../hooks/gate.ts';
import { type Group, type GroupContext, type Member, openGroup } from '../hooks/group.ts';
import { openHttpTransport } from '../transport/http.ts';
import type { Pool } from '../transport/pool.ts';
import type { Handshake, Transport } from '../transport/transport.ts';
import { providePluginData } from './plugin-data.ts';

/** A foreign hook of the config, resolved. */
export interface ForeignEntry {
  readonly config: ForeignHookConfig;
  readonly resolved: ResolvedForeignHook;
}

/** A link and its position in the chain. */
export interface PlacedLink {
  readonly place: number;
  readonly link: ForeignLink;
}

/** How an entry's transport is opened. */
export interface WrapOptions {
  readonly pool?: Pool;
  readonly isNotifyOnly?: boolean;
  readonly handshake?: Handshake | undefined;
}

/** What foreign hooks are opened with. */
export interface ForeignWiring extends GroupContext {
  readonly cassette: Cassette | undefined;
  readonly wrap: (entry: Pick<ResolvedEntry, 'binding'>, options: WrapOptions) => Transport;
  readonly callPool: Pool;
  /** For background and observed calls. */
  readonly observerPool: Pool;
  /** All opened transports, to be closed with the runtime. */
  readonly transports: Transport[];
}

/**
 * The links of foreign hooks, whose entries come in the order of the file. All hooks of a dialect are one
 * link, at the position of the first; of a dialect whose hooks keep their positions, only adjacent hooks
 * are.
 */
export function openForeignLinks(entries: readonly ForeignEntry[], wiring: ForeignWiring): PlacedLink[] {
  const groups: ForeignEntry[][] = [];
  for (const entry of entries) {
    const { dialect, fileIndex: position } = entry.config;
    const keepsPlace = foreignDialects[dialect].keepsFileOrder === true;
    const group = groups.findLast(([first]) => first?.config.dialect === dialect);
    const isApart = keepsPlace && position - (group?.at(-1)?.config.fileIndex ?? position) > 1;
    if (group === undefined || isApart) groups.push([entry]);
    else group.push(entry);
  }
  return groups.flatMap((group) => {
    const [first] = group;
    if (first === undefined) return [];
    const dialect: ForeignDialect = foreignDialects[first.config.dialect];
    return [{ place: first.config.fileIndex, link: { group: openHookGroup(dialect, group, wiring) } }];
  });
}

function openHookGroup(
  dialect: ForeignDialect,
  entries: readonly ForeignEntry[],
  wiring: ForeignWiring,
): Group {
  const members = entries.map((entry): Member => {
    providePluginData(entry.config, wiring.emit);
    const { name, onFailure = 'own', settings, source } = entry.config;
    const { cwd } = entry.resolved;
    return {
      entry: { name, onFailure, cwd, source: source.file, settings },
      ...openTransports(entry, wiring),
    };
  });
  return openGroup(dialect, members, wiring);
}

/** Opens the transports to the entry's process or endpoint; undefined where it needs none. */
function openTransports(
  entry: ForeignEntry,
  { wrap, callPool, observerPool, transports, cassette, emit, scrubber }: ForeignWiring,
): Pick<Member, 'timeoutMs' | 'transport' | 'backgroundTransport'> {
  const { binding, http } = entry.resolved;
  if (http !== undefined) {
    const endpoint = { name: http.name, capability: 'hook', dialect: 'claude', mode: 'oneshot' } as const;
    const [transport, backgroundTransport] = [callPool, observerPool].map((pool) => {
      const open = () => openHttpTransport(http, pool);
      const opened = cassette?.wrap(endpoint, open) ?? open();
      transports.push(opened);
      return opened;
    });
    return { timeoutMs: http.timeoutMs, transport, backgroundTransport };
  }
  if (binding === undefined) return { timeoutMs: 0, transport: undefined, backgroundTransport: undefined };
  const handshake = handshakeOf(entry, emit, scrubber);
  const transport = wrap({ binding }, { handshake });
  // A server process has one transport for both; one-shot processes may use two pools.
  const backgroundTransport = handshake === undefined ? wrap({ binding }, { pool: observerPool }) : transport;
  return { timeoutMs: binding.timeoutMs, transport, backgroundTransport };
}

/** The handshake with a process before its first request; undefined for dialects without one. */
function handshakeOf(
  { config: hook, resolved: { cwd } }: ForeignEntry,
  emit: Emit,
  scrubber: Scrubber = noopScrubber,
): Handshake | undefined {
  if (hook.dialect !== 'picoclaw') return undefined;
  const { name, onFailure = 'own', settings } = hook;
  const hookEntry = { name, onFailure, settings, cwd } as const;
  return {
    message: handshakeMessage(hookEntry),
    check: (reply) => {
      const handshake = readHandshake(hookEntry, reply);
      if (!handshake.accepted) {
        const safeHandshake =
          reply instanceof RuntimeError ? handshake : readHandshake(hookEntry, redactReply(reply, scrubber));
        return scrubError(safeHandshake.accepted ? handshake.error : safeHandshake.error, scrubber);
      }
      for (const { level, message } of handshake.notes) emit({ type: 'note', name, level, message });
      return undefined;
    },
  };
}
