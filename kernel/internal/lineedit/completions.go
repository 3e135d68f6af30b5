package lineedit

// Completions are what may stand at the cursor.
type Completions struct {
	// From is the byte of the text where what is completed begins; it ends at the cursor.
	From int
	// Choices in the order to offer them.
	Choices []Choice
}

// Choice is one thing that may stand there.
type Choice struct {
	// Text takes the place of what is there. It may end in a blank when nothing can follow.
	Text string
	// Label is how it is listed; the Text without its last blank when it is empty.
	Label string
	// Description is shown beside it.
	Description string
}
