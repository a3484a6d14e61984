import type { Dialect } from '../dialect.ts';
import { goCase, snakeCase } from './casing.ts';
import { createEvalCodec } from './eval.ts';
import { createHookCodec } from './hook.ts';
import { toolCodec } from './tool.ts';
import { nativeVolatileFields } from './volatile-fields.ts';

/** The native dialect: payload members in snake_case. */
export const promptkit: Dialect = {
  name: 'promptkit',
  tool: toolCodec,
  eval: createEvalCodec(snakeCase),
  hook: createHookCodec(snakeCase),
  volatileFields: nativeVolatileFields,
};

/** The native dialect with payload members as PromptKit's Go program prints them; replies are the same. */
export const promptkitGo: Dialect = {
  name: 'promptkit-go',
  tool: toolCodec,
  eval: createEvalCodec(goCase),
  hook: createHookCodec(goCase),
  volatileFields: nativeVolatileFields,
};
