import * as authors from './authors/requirements.ts';
import * as checks from './builtins/checks/requirements.ts';
import * as guards from './builtins/guards/requirements.ts';
import * as capability from './calls/capability/requirements.ts';
import * as hooks from './calls/hooks/requirements.ts';
import * as toolCall from './calls/tool-call/requirements.ts';
import * as doctor from './cli/doctor/requirements.ts';
import * as commandLine from './cli/requirements.ts';
import * as config from './config/requirements.ts';
import * as conform from './conform/requirements.ts';
import * as agentao from './dialects/agentao/requirements.ts';
import * as chibi from './dialects/chibi/requirements.ts';
import * as claude from './dialects/claude/requirements.ts';
import * as inbound from './dialects/inbound-requirements.ts';
import * as picoclaw from './dialects/picoclaw/requirements.ts';
import * as promptkit from './dialects/promptkit/requirements.ts';
import * as gateway from './gateway/requirements.ts';
import * as provider from './models/requirements.ts';
import * as pipeline from './pipelines/requirements.ts';
import * as transport from './process/requirements.ts';
import type { Requirement } from './requirements/requirement.ts';
import * as project from './runtime/project/requirements.ts';
import * as runtime from './runtime/requirements.ts';
import * as store from './store/requirements.ts';
import * as suite from './suites/requirements.ts';
import * as workers from './workers/requirements.ts';

/**
 * Every behavior that docs/ promises to authors of programs and files, one row each. Rows are kept beside the tests of
 * their area. Tests cite the rows (see cite.ts), and a row without a citation fails test/requirements.test.ts.
 */
export const requirements: readonly Requirement[] = [
  transport,
  promptkit,
  capability,
  toolCall,
  hooks,
  guards,
  gateway,
  checks,
  provider,
  store,
  workers,
  suite,
  config,
  pipeline,
  runtime,
  project,
  commandLine,
  doctor,
  authors,
  conform,
  picoclaw,
  chibi,
  claude,
  inbound,
  agentao,
].flatMap((area) => Object.values(area).flat());
