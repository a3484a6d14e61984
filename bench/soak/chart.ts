const levels = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/** Draws a curve as one line of text. Each column is the mean of its section, scaled from minimum to maximum. */
export function drawCurve(values: readonly number[], columns = 60): string {
  const means = shrink(values, Math.min(columns, values.length));
  const [min, max] = [Math.min(...means), Math.max(...means)];
  const level = (value: number) =>
    max === min ? 0 : Math.round(((value - min) / (max - min)) * (levels.length - 1));
  return means.map((value) => levels[level(value)] ?? ' ').join('');
}

function shrink(values: readonly number[], columns: number): number[] {
  return Array.from({ length: columns }, (_, column) => {
    const part = values.slice(
      Math.floor((column * values.length) / columns),
      Math.floor(((column + 1) * values.length) / columns),
    );
    return part.reduce((sum, value) => sum + value, 0) / part.length;
  });
}
