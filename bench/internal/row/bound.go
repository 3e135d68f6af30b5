package row

// Bound is what a figure that misses its target cannot be less than, all of it measured in the same run. Times are in
// milliseconds; zero is what was not measured.
type Bound struct {
	// Work is the target.
	Work string `json:"work"`
	// Ours is what is held to the floor: the figure of the target, or our mean when the floor is made of means.
	Ours float64 `json:"ours"`
	Mean bool    `json:"mean,omitempty"`
	// Ratio is that of the target, Wanted what it should be, and FloorRatio the one that the floor would have.
	Ratio      float64 `json:"ratio"`
	Wanted     string  `json:"wanted"`
	FloorRatio float64 `json:"floor_ratio,omitempty"`
	// Floor is the sum of its parts.
	Floor float64 `json:"floor_ms,omitempty"`
	Parts []Part  `json:"parts,omitempty"`
	// Above is Ours over Floor.
	Above float64 `json:"above,omitempty"`
	// Missing are the parts that were not measured.
	Missing []string `json:"missing,omitempty"`
	// Beside are other figures that the row is to be read with.
	Beside []Part `json:"beside,omitempty"`
}

// Part is one figure of a bound.
type Part struct {
	Named string  `json:"named"`
	MS    float64 `json:"ms"`
	// Ratio is that of the figure of the target to this one, where both do the same.
	Ratio float64 `json:"ratio,omitempty"`
}
