import type { DialectName } from '../config/config.ts';
import type { Dialect } from './dialect.ts';
import { promptkit, promptkitGo } from './promptkit/dialect.ts';

/** Every dialect by its name in the config. */
export const dialects: Readonly<Record<DialectName, Dialect>> = {
  promptkit,
  'promptkit-go': promptkitGo,
};
