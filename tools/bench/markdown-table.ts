/** Lines of a Markdown table with its columns aligned, so that a terminal shows it as well. */
export function markdownTable(columns: readonly string[], body: readonly (readonly string[])[]): string[] {
  const widths = columns.map((name, column) =>
    Math.max(name.length, 3, ...body.map((row) => row[column]?.length ?? 0)),
  );
  const rows = [columns, widths.map((width) => '-'.repeat(width)), ...body];
  return rows.map((row) => `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`);
}
