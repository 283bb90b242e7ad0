export type Choices<Value> = readonly (readonly [value: Value, title: string])[];

interface SelectProps<Value extends string | number> {
  readonly label: string;
  readonly className?: string | undefined;
  readonly value: Value;
  readonly choices: Choices<Value>;
  readonly onChange: (value: Value) => void;
}

export function Select<Value extends string | number>(props: SelectProps<Value>) {
  const { label, className, value, choices, onChange } = props;
  const choose = (index: number): void => {
    const chosen = choices[index];
    if (chosen) onChange(chosen[0]);
  };
  return (
    <label className={className}>
      {label}{' '}
      <select value={value} onChange={(event) => choose(event.target.selectedIndex)}>
        {choices.map(([choice, title]) => (
          <option key={choice} value={choice}>
            {title}
          </option>
        ))}
      </select>
    </label>
  );
}
