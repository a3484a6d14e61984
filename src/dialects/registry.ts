import { RuntimeError } from '../base/errors.ts';
import type { ToolCall, ToolOutcome } from '../contract/tool.ts';
import type { VolatileFields } from '../process/cassette/volatile-fields.ts';
import { agentao } from './agentao/config/dialect.ts';
import { chibi } from './chibi/config/dialect.ts';
import { claude } from './claude/config/dialect.ts';
import type { Codec, Dialect } from './dialect.ts';
import type { DialectConfig } from './dialect-config.ts';
import { picoclaw } from './picoclaw/config/dialect.ts';
import { promptkit, promptkitGo } from './promptkit/dialect.ts';

const natives = { promptkit, 'promptkit-go': promptkitGo } as const;

/** Every system whose hooks run unchanged, in the order in which their names are listed. */
const foreign = { picoclaw, chibi, claude, agentao } as const;

export type NativeName = keyof typeof natives;
export type ForeignName = keyof typeof foreign;
export type DialectName = NativeName | ForeignName;

/** Each foreign dialect; it sees the settings of its own hooks only. */
export const foreignDialects: Readonly<Record<ForeignName, DialectConfig>> = foreign;

export const nativeNames: readonly NativeName[] = Object.keys(natives).filter(isNative);
export const foreignNames: readonly ForeignName[] = Object.keys(foreign).filter(isForeign);
export const dialectNames: readonly DialectName[] = [...nativeNames, ...foreignNames];
/** The dialects in which tools may be run. */
export const toolDialects = dialectNames.filter(
  (name) => isNative(name) || toolDialectOf(name) !== undefined,
);

export function isForeign(name: string): name is ForeignName {
  return Object.hasOwn(foreign, name);
}

function isNative(name: string): name is NativeName {
  return Object.hasOwn(natives, name);
}

/** The native dialect of that name. Throws INTERNAL for a foreign one, which the config has refused here. */
export function requireNative(name: string): Dialect {
  if (isNative(name)) return natives[name];
  throw new RuntimeError('INTERNAL', `${name} is no native dialect`);
}

/** How a foreign dialect runs tools; undefined for a native one, and where it has none. */
export function toolDialectOf(name: string): DialectConfig['tool'] {
  return isForeign(name) ? foreignDialects[name].tool : undefined;
}

/** How tools are spoken to in that dialect. Throws INTERNAL where it has none, which the config has refused. */
export function requireToolCodec(name: string): Codec<ToolCall, ToolOutcome> {
  return toolDialectOf(name)?.codec ?? requireNative(name).tool;
}

/** The fields of a payload of that dialect whose values differ from run to run. */
export function volatileFieldsOf(name: string): VolatileFields {
  return isForeign(name) ? foreignDialects[name].volatileFields : requireNative(name).volatileFields;
}
