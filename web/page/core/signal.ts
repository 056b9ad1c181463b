/* Signals as state of components: a component that reads one with `useSignal` is drawn anew when it changes. */
import { useEffect, useRef, useState } from "preact/hooks";
import { effect, type ReadonlySignal } from "@preact/signals-core";

export { batch, computed, effect, signal, type ReadonlySignal, type Signal } from "@preact/signals-core";

/** The value of a signal; the component follows its changes. */
export function useSignal<T>(source: ReadonlySignal<T>): T {
    const [, redraw] = useState({});
    const drawn = useRef(source.peek());
    drawn.current = source.peek();
    useEffect(() => effect(() => {
        if (source.value !== drawn.current) redraw({}); /* it may have changed before the effect began */
    }), [source]);
    return drawn.current;
}
