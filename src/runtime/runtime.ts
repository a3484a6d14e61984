// What programs and library users import: the runtime, and what they need from other folders.

import { foreignDialects, isForeign } from '../dialects/registry.ts';

export { formatUsd } from '../base/text/phrases.ts';
export { countProblems, formatProblem, problemsOf } from '../base/yaml/problem.ts';
export type { EventInput as LooseEvent } from '../calls/hooks/event-input.ts';
export type { PointEvent } from '../calls/hooks/fire-point.ts';
export type { DecisionInput as Decider } from '../calls/tool-call/approvals.ts';
export { choicesOf } from '../calls/tool-call/approvals.ts';
export { parseDuration } from '../config/duration.ts';
export { requireListen } from '../config/listen.ts';
export { consoleLinkOf } from '../config/mcp.ts';
export { configOptions, identityOf } from '../config/overlay/identity.ts';
export type { Inbound, InboundEvent, InboundReply, InboundServer } from '../dialects/inbound.ts';
export type { EvalInput } from '../pipelines/run/eval-request.ts';
export type { StartOptions } from '../pipelines/run/new-run.ts';
export type { RunOptions } from '../pipelines/run/runs.ts';
export type { CassetteOptions } from '../process/cassette/cassette.ts';
export { openFetch } from '../process/web.ts';
export type { WatchKind } from '../store/changes.ts';
export type { SuiteProgress } from '../suites/file/model.ts';
export type { Rating, RatingInput, RatingPlace } from '../suites/rating/rating.ts';
export type { RatingAgreement, RatingAgreementOptions } from '../suites/rating-agreement.ts';
export type { CaseRecord, RunHeader, RunSource, SuiteReport } from '../suites/record.ts';
export { formatDuration, formatPercent } from '../suites/report/numbers.ts';
export type { Reporter, Sink } from '../suites/report/reporter.ts';
export type { Selection } from '../suites/select/select.ts';
export type * from './api.ts';
export type { ChaosCell, ChaosReport, UntriedHook } from './doctor/chaos/report.ts';
export type { Check } from './doctor/checks/check.ts';
export type { ConformReport, ConformRow } from './doctor/conform/conform.ts';
export type { PreparedGateway, ServedGateway } from './gateway/serve.ts';
export { openRuntime } from './open-runtime.ts';
export { type FoundState, findResults, findStates } from './project/find-state.ts';
export { writeHelper, writeTemplate } from './project/init-template.ts';
export type { PlannedRow, SuitePlan } from './project/suite-files.ts';

/** The HTTP server of the gateway, for other surfaces. */
export const loadHttpServer = async () => await import('../gateway/http/server.ts');
/** Who may use a server without a config. */
export const loadCallers = async () => await import('../gateway/http/callers.ts');
/** Starts programs that outlive this one. */
export const loadOpener = async () => await import('../process/launch/try-script.ts');
/** Serves the metrics of runtimes. */
export const loadMetrics = async () => await import('./telemetry/endpoint.ts');
export type { WatchedRuntime } from './agents/watched-runtime.ts';
export const loadWatched = async () => await import('./agents/watched-runtime.ts');
export const loadServer = async () => await import('./gateway/serve.ts');
export const loadProcesses = async () => await import('./gateway/processes.ts');
export type { MetricsServers } from './telemetry/endpoint.ts';
export type { Shelf } from './view/shelf.ts';
export const loadShelf = async () => await import('./view/shelf.ts');
export const loadChecker = async () => await import('./validate-file.ts');
export const loadValues = async () => await import('./project/list-values.ts');
export const loadInputs = async () => await import('./project/suite-files.ts');
export const loadResults = async () => await import('../suites/results.ts');
export const loadPlan = async () => await import('./project/suite-files.ts');
export const loadImporter = async () => await import('./project/import-hooks.ts');
export const loadServerImporter = async () => await import('./project/import-servers.ts');

/** Imports the protocol by which the dialect's system calls Signalbox; undefined if it has none. */
export const loadInbound = async (dialect: string) =>
  isForeign(dialect) ? await foreignDialects[dialect].loadInbound?.() : undefined;

export const loadSuiteImporter = async () => await import('../suites/import/import-suite.ts');

/** Imports the protocol by which the dialect's system calls a running Signalbox; undefined if it has none. */
export const loadInboundServer = async (dialect: string) =>
  isForeign(dialect) ? await foreignDialects[dialect].loadInboundServer?.() : undefined;

export const loadAudit = async () => await import('./gateway/audit.ts');
export const loadDoctor = async () => await import('./doctor/checks/doctor.ts');
export const loadMigration = async () => await import('./project/migrate-store.ts');
export const loadCopy = async () => await import('./project/copy-store.ts');
export const loadChaos = async () => await import('./doctor/chaos/chaos.ts');
export const loadConform = async () => await import('./doctor/conform/conform.ts');
