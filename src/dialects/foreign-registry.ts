import type { ForeignName } from '../config/config.ts';
import { agentao } from './agentao/dialect.ts';
import { chibi } from './chibi/dialect.ts';
import { claude } from './claude/dialect.ts';
import type { ForeignDialect } from './foreign-dialect.ts';
import { picoclaw } from './picoclaw/dialect.ts';

/** Every foreign dialect by its name in the config; each sees the settings of its own entries only. */
export const foreignDialects: Readonly<Record<ForeignName, ForeignDialect>> = {
  picoclaw,
  chibi,
  claude,
  agentao,
};
