import type { DialectName, NativeName } from '../config/config.ts';
import type { ToolCall, ToolOutcome } from '../contract/tool.ts';
import { RuntimeError } from '../errors.ts';
import { tool as chibiTools } from './chibi/tool.ts';
import type { Codec, Dialect } from './dialect.ts';
import { promptkit, promptkitGo } from './promptkit/dialect.ts';

const natives: Readonly<Record<NativeName, Dialect>> = { promptkit, 'promptkit-go': promptkitGo };

/** The native dialect of that name. Throws INTERNAL for a foreign one, which the config has refused here. */
export function requireNative(name: DialectName): Dialect {
  if (name === 'promptkit' || name === 'promptkit-go') return natives[name];
  throw new RuntimeError('INTERNAL', `${name} is no native dialect`);
}

/** How tools are spoken to in that dialect. Throws INTERNAL where it has none, which the config has refused. */
export function requireToolCodec(name: DialectName): Codec<ToolCall, ToolOutcome> {
  return name === 'chibi' ? chibiTools : requireNative(name).tool;
}
