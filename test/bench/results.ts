import type { LineResult } from '../../bench/run/result.ts';

export function lineAt(ratio: number, unit: LineResult['unit'] = '/s'): LineResult {
  const way = (name: string, median: number) => ({
    name,
    value: { median: median * 1000, min: median * 900, max: median * 1100 },
    ratio: { median, min: median, max: median },
    cpu_ms: 0.25,
    children_cpu_ms: 1,
    peak_mb: 80,
  });
  return { id: 'server/64x100B', title: '64 in flight', unit, ways: [way('bare', 1), way('ours', ratio)] };
}
