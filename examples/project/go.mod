module example.com/rates

go 1.26.0
