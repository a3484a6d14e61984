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

/** The systems whose hooks run unchanged, in the order in which messages list them. */
const foreign = { picoclaw, chibi, claude, agentao } as const;

export type NativeName = keyof typeof natives;
export type ForeignName = keyof typeof foreign;
export type DialectName = NativeName | ForeignName;

export const foreignDialects: Readonly<Record<ForeignName, DialectConfig>> = foreign;

export const nativeNames: readonly NativeName[] = Object.keys(natives).filter(isNative);
export const foreignNames: readonly ForeignName[] = Object.keys(foreign).filter(isForeign);
export const dialectNames: readonly DialectName[] = [...nativeNames, ...foreignNames];
export const toolDialects = dialectNames.filter(
  (name) => isNative(name) || toolDialectOf(name) !== undefined,
);

export function isForeign(name: string): name is ForeignName {
  return Object.hasOwn(foreign, name);
}

function isNative(name: string): name is NativeName {
  return Object.hasOwn(natives, name);
}

/** Throws INTERNAL for a foreign dialect, which the config has already refused. */
export function requireNative(name: string): Dialect {
  if (isNative(name)) return natives[name];
  throw new RuntimeError('INTERNAL', `${name} is not a native dialect`);
}

export function toolDialectOf(name: string): DialectConfig['tool'] {
  return isForeign(name) ? foreignDialects[name].tool : undefined;
}

/** Throws INTERNAL for a dialect that cannot run tools, which the config has already refused. */
export function requireToolCodec(name: string): Codec<ToolCall, ToolOutcome> {
  return toolDialectOf(name)?.codec ?? requireNative(name).tool;
}

export function volatileFieldsOf(name: string): VolatileFields {
  return isForeign(name) ? foreignDialects[name].volatileFields : requireNative(name).volatileFields;
}
