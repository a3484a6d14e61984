import { type Contender, defineWay, spread } from '../run/line.ts';
import { openSpec } from '../workspace.ts';
import { startCollector } from './served.ts';

export interface TelemetryCall {
  /** The `spec` of a RuntimeConfig that declares the tool `bench`. */
  readonly spec: object;
  readonly atOnce: number;
  /** `spec.telemetry`; absent: none. Spans go to a collector in a process of its own. */
  readonly telemetry?: { readonly traces: false | { readonly sample: number }; readonly metrics: boolean };
}

/** `runtime.tools.call`, by the processor time of this process for a call. */
export const telemetryCall = defineWay<TelemetryCall>(import.meta.url);

export async function open({ spec, atOnce, telemetry }: TelemetryCall): Promise<Contender> {
  const collector = telemetry?.traces ? await startCollector() : undefined;
  const traces = collector !== undefined && { ...telemetry?.traces, endpoint: collector.url };
  const section = telemetry && { telemetry: { ...telemetry, traces } };
  const runtime = await openSpec({ ...spec, ...section }, { ownsTelemetry: true });
  const call = async () => {
    const { status } = await runtime.tools.call('bench', { city: 'Oslo' });
    if (status !== 'ok') throw new Error(`the call ended as ${status}`);
  };
  return {
    run: async (count) => {
      const before = process.cpuUsage();
      await spread(count, atOnce, call);
      const { user, system } = process.cpuUsage(before);
      return { value: (user + system) / 1000 / count };
    },
    close: async () => {
      await runtime.close();
      await collector?.stop();
    },
  };
}
