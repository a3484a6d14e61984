import { mkdirSync } from 'node:fs';
import { RuntimeError, toRuntimeError } from '../base/errors.ts';
import { isTooDeep, MAX_JSON_DEPTH } from '../base/json/depth.ts';
import { redactReply } from '../calls/capability/invoke.ts';
import { type FirePointOptions, firePoint, type PointEvent } from '../calls/hooks/fire-point.ts';
import type { ForeignLink } from '../calls/hooks/gate.ts';
import { type Group, type GroupContext, type Member, openGroup } from '../calls/hooks/group.ts';
import type { ForeignHookConfig, ForeignName } from '../config/config.ts';
import type { Emit } from '../contract/event.ts';
import type { Decision } from '../contract/hook.ts';
import { noopScrubber, type Scrubber, scrubError } from '../contract/scrub.ts';
import type { EntryHandshake, ForeignDialect } from '../dialects/foreign-dialect.ts';
import { foreignDialects, foreignNames, isForeign, volatileFieldsOf } from '../dialects/registry.ts';
import type { Cassette } from '../process/cassette/cassette.ts';
import { openHttpTransport } from '../process/http.ts';
import type { Pool } from '../process/pool.ts';
import type { Handshake, Transport } from '../process/transport.ts';
import type { ResolvedEntry } from './binding/resolve.ts';
import type { ResolvedForeignHook } from './binding/resolve-foreign.ts';

export interface ForeignEntry {
  readonly config: ForeignHookConfig;
  readonly resolved: ResolvedForeignHook;
}

export interface PlacedLink {
  readonly place: number;
  readonly link: ForeignLink;
}

export interface WrapOptions {
  readonly pool?: Pool;
  readonly isNotifyOnly?: boolean;
  readonly handshake?: Handshake | undefined;
}

export interface ForeignWiring extends GroupContext {
  readonly cassette: Cassette | undefined;
  readonly wrap: (entry: Pick<ResolvedEntry, 'binding'>, options: WrapOptions) => Transport;
  readonly callPool: Pool;
  readonly observerPool: Pool;
  readonly transports: Transport[];
}

/**
 * Opens foreign hooks, given in the order of the file. All hooks of a dialect form one link at the position of the
 * first. If the dialect keeps positions, only adjacent hooks form one.
 */
export async function openForeignLinks(
  entries: readonly ForeignEntry[],
  wiring: ForeignWiring,
): Promise<PlacedLink[]> {
  const dialects = await loadDialects(entries);
  const groups: ForeignEntry[][] = [];
  for (const entry of entries) {
    const { dialect, fileIndex: position } = entry.config;
    const keepsPlace = dialects.get(dialect)?.keepsFileOrder === true;
    const group = groups.findLast(([first]) => first?.config.dialect === dialect);
    const isApart = keepsPlace && position - (group?.at(-1)?.config.fileIndex ?? position) > 1;
    if (group === undefined || isApart) groups.push([entry]);
    else group.push(entry);
  }
  return groups.flatMap((group) => {
    const [first] = group;
    const dialect = first && dialects.get(first.config.dialect);
    if (first === undefined || dialect === undefined) return [];
    return [{ place: first.config.fileIndex, link: { group: openHookGroup(dialect, group, wiring) } }];
  });
}

async function loadDialects(entries: readonly ForeignEntry[]): Promise<Map<ForeignName, ForeignDialect>> {
  const names = [...new Set(entries.map(({ config }) => config.dialect))];
  return new Map(
    await Promise.all(names.map(async (name) => [name, await foreignDialects[name].loadHooks()] as const)),
  );
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
    const hookEntry: Member['entry'] = { name, onFailure, cwd, source: source.file, settings };
    const handshake = dialect.handshake?.(hookEntry);
    return { entry: hookEntry, ...openTransports(entry, handshake, wiring) };
  });
  return openGroup(dialect, members, wiring);
}

function openTransports(
  { config: { name, dialect }, resolved: { binding, http } }: ForeignEntry,
  entryHandshake: EntryHandshake | undefined,
  { wrap, callPool, observerPool, transports, cassette, emit, scrubber }: ForeignWiring,
): Pick<Member, 'timeoutMs' | 'transport' | 'backgroundTransport'> {
  if (http !== undefined) {
    const volatileFields = volatileFieldsOf(dialect);
    const endpoint = {
      name: http.name,
      capability: 'hook',
      dialect,
      volatileFields,
      mode: 'oneshot',
    } as const;
    const [transport, backgroundTransport] = [callPool, observerPool].map((pool) => {
      const open = () => openHttpTransport(http, pool, emit);
      const opened = cassette?.wrap(endpoint, open) ?? open();
      transports.push(opened);
      return opened;
    });
    return { timeoutMs: http.timeoutMs, transport, backgroundTransport };
  }
  if (binding === undefined) return { timeoutMs: 0, transport: undefined, backgroundTransport: undefined };
  const handshake = entryHandshake && toHandshake(entryHandshake, { name, emit, scrubber });
  const transport = wrap({ binding }, { handshake });
  const backgroundTransport = handshake === undefined ? wrap({ binding }, { pool: observerPool }) : transport;
  return { timeoutMs: binding.timeoutMs, transport, backgroundTransport };
}

interface HandshakeContext {
  readonly name: string;
  readonly emit: Emit;
  readonly scrubber: Scrubber | undefined;
}

function toHandshake(
  { message, read }: EntryHandshake,
  { name, emit, scrubber = noopScrubber }: HandshakeContext,
): Handshake {
  return {
    message,
    check: (reply) => {
      const handshake = read(reply);
      if (!handshake.accepted) {
        const safeHandshake = reply instanceof RuntimeError ? handshake : read(redactReply(reply, scrubber));
        return scrubError(safeHandshake.accepted ? handshake.error : safeHandshake.error, scrubber);
      }
      for (const { level, message: text } of handshake.notes)
        emit({ type: 'note', name, level, message: text });
      return undefined;
    },
  };
}

/** Creates the hook's own data folder, if it has one. It is never removed. Emits a note on failure; never throws. */
export function providePluginData({ name, dialect, settings }: ForeignHookConfig, emit: Emit): void {
  const folder = foreignDialects[dialect].ownFolderOf?.(settings);
  if (folder === undefined) return;
  try {
    mkdirSync(folder.path, { recursive: true, mode: 0o700 });
  } catch (thrown) {
    const message = `its ${folder.variable} could not be created: ${toRuntimeError(thrown).message}`;
    emit({ type: 'note', name, level: 'warn', message });
  }
}

export async function fireForeignPoint(
  event: PointEvent,
  firing: Omit<FirePointOptions, 'find' | 'dialects'>,
): Promise<Decision> {
  if (isTooDeep(event.payload)) {
    throw new RuntimeError(
      'EVENT_INVALID',
      `the payload is nested in more than ${MAX_JSON_DEPTH} levels, or contains itself`,
    );
  }
  const dialect = isForeign(event.dialect) ? await foreignDialects[event.dialect].loadHooks() : undefined;
  return await firePoint(event, { ...firing, find: () => dialect, dialects: foreignNames });
}
