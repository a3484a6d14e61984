import { drawCurve } from './chart.ts';
import type { Sample } from './sample.ts';
import type { Growth } from './verdict.ts';

const curves = ['rssMb', 'heapMb', 'descriptors', 'children', 'zombies', 'handles'] as const;

/** The curves of a soak test, with the growth of each. */
export function renderCurves(samples: readonly Sample[], growth: readonly Growth[]): string {
  const rows = curves.map((name) => {
    const values = samples.map((sample) => sample[name]);
    const found = growth.find((one) => one.name === name);
    const trend =
      found === undefined ? '' : `${found.growth >= 0 ? '+' : ''}${found.growth.toFixed(1)} after warm-up`;
    return renderRow(name, values, found?.grows ? `${trend}: GROWS` : trend);
  });
  const tools = Object.keys(samples.at(-1)?.calls ?? {});
  return [...rows, ...tools.map((tool) => renderRow(`${tool} /s`, ratesOf(samples, tool), ''))].join('\n');
}

function renderRow(name: string, values: readonly number[], note: string): string {
  const [min, max] = [Math.min(...values), Math.max(...values)].map((value) => value.toFixed(0));
  return `  ${name.padEnd(12)} ${drawCurve(values).padEnd(60)} ${min}–${max}  ${note}`.trimEnd();
}

/** Calls per second between each sample and the previous one. */
function ratesOf(samples: readonly Sample[], tool: string): number[] {
  return samples.slice(1).map((sample, index) => {
    const before = samples[index];
    const seconds = sample.seconds - (before?.seconds ?? 0);
    return ((sample.calls[tool] ?? 0) - (before?.calls[tool] ?? 0)) / seconds;
  });
}

/** One row per sample. */
export function toCsv(samples: readonly Sample[]): string {
  const tools = Object.keys(samples.at(-1)?.calls ?? {});
  const head = ['seconds', ...curves, ...tools, 'kills', 'errors'].join(',');
  const rows = samples.map((sample) =>
    [
      sample.seconds.toFixed(1),
      ...curves.map((name) => String(Math.round(sample[name] * 100) / 100)),
      ...tools.map((tool) => String(sample.calls[tool] ?? 0)),
      String(sample.kills),
      String(Object.values(sample.errors).reduce((sum, count) => sum + count, 0)),
    ].join(','),
  );
  return `${[head, ...rows].join('\n')}\n`;
}
